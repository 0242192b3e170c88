/** A module as AMD hands it on: whatever the factory returned, or filled its `exports` with. */
type AmdModule = Record<string, unknown>;
type Factory = ((...dependencies: unknown[]) => unknown) | AmdModule;

interface Definition {
  dependencies: string[];
  factory: Factory;
}

interface Define {
  (...args: unknown[]): void;
  amd: Record<string, never>;
}

declare global {
  interface Window {
    define?: Define;
  }
}

/**
 * Loads one AMD module by a script element, as Grafana loads a plugin's `module.js`.
 *
 * `shared` is all that the module may ask for besides AMD's own `exports` and `module`; a request for anything else
 * rejects with its name. `requested` (for tests) gets each name that was asked for.
 */
export async function loadAmdModule(url: string, shared: AmdModule, requested: string[] = []): Promise<AmdModule> {
  const definition = await fetchDefinition(url);
  const exports: AmdModule = {};
  const module = { id: url, uri: url, exports };
  const dependencies = definition.dependencies.map((name) => {
    requested.push(name);
    if (name === 'exports') {
      return exports;
    }
    if (name === 'module') {
      return module;
    }
    if (!Object.hasOwn(shared, name)) {
      throw new Error(`${url} asks for "${name}", which Grafana ${__GRAFANA__} does not share with plugins`);
    }
    return shared[name];
  });
  if (typeof definition.factory !== 'function') {
    return definition.factory;
  }
  const returned = definition.factory(...dependencies);
  return (returned ?? module.exports) as AmdModule;
}

function fetchDefinition(url: string): Promise<Definition> {
  return new Promise((resolve, reject) => {
    let definition: Definition | undefined;
    const define = (...args: unknown[]) => {
      definition = parse(args);
    };
    const before = window.define;
    window.define = Object.assign(define, { amd: {} });
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => {
      window.define = before;
      if (definition) {
        resolve(definition);
      } else {
        reject(new Error(`${url} did not call define(): it is no AMD module`));
      }
    };
    script.onerror = () => {
      window.define = before;
      reject(new Error(`${url} could not be loaded`));
    };
    document.head.append(script);
  });
}

/** Reads `define([name], [dependencies], factory)`. */
function parse(args: unknown[]): Definition {
  const rest = typeof args[0] === 'string' ? args.slice(1) : args;
  const [dependencies, factory] = Array.isArray(rest[0]) ? rest : [['require', 'exports', 'module'], rest[0]];
  return { dependencies: dependencies as string[], factory: factory as Factory };
}
