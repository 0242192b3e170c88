/** Runs `run` at once, and then at most once in `interval()` milliseconds, the last request never lost. */
export class Throttle {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = -Infinity;

  constructor(
    private readonly run: () => void,
    private readonly interval: () => number
  ) {}

  request(): void {
    if (this.timer !== undefined) {
      return;
    }
    const wait = this.last + this.interval() - Date.now();
    if (wait <= 0) {
      this.fire();
    } else {
      this.timer = setTimeout(() => this.fire(), wait);
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private fire(): void {
    this.timer = undefined;
    this.last = Date.now();
    this.run();
  }
}
