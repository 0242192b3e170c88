/** Reads saved values as the process does: environment variables in a provisioning file make texts of numbers and booleans. */

/** Reads a text; nothing is an empty one. */
export function text(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

/** Reads a yes or no; nothing, or an empty text, is `initial`. */
export function flag(value: unknown, initial = false): boolean {
  const written = text(value).trim().toLowerCase();
  return written === '' ? initial : ['true', 't', '1', 'yes', 'on'].includes(written);
}

/** Reads a list, or one text with commas, where those in the braces of a pattern do not count. */
export function list(value: unknown): string[] {
  const entries = Array.isArray(value) ? value.map(text) : text(value).split(/,(?![^{]*\})/);
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}
