// The simulator as WebAssembly: one call a scene, standard input in, standard output out. Only what it asks of WASI is answered.

let module: WebAssembly.Module | null = null;
const waiting: { id: number; request: string }[] = [];

class Exit extends Error {}

/** Runs the program on a text. Every call has an instance of its own: the same scene, the same answer. */
function call(text: string): string {
  const input = new TextEncoder().encode(text);
  let read = 0;
  const said: Uint8Array[] = [];
  let memory: WebAssembly.Memory;
  const view = (): DataView => new DataView(memory.buffer);
  const bytes = (at: number, length: number): Uint8Array => new Uint8Array(memory.buffer, at, length);
  /** Visits the pieces of a vector of buffers; the sum of what `use` tells of each. */
  const each = (at: number, count: number, use: (piece: Uint8Array) => number): number => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += use(bytes(view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)));
    return sum;
  };
  const wasi = {
    fd_read: (_fd: number, at: number, count: number, told: number): number => {
      const n = each(at, count, (piece) => {
        const some = input.subarray(read, read + piece.length);
        piece.set(some);
        read += some.length;
        return some.length;
      });
      view().setUint32(told, n, true);
      return 0;
    },
    fd_write: (fd: number, at: number, count: number, told: number): number => {
      const n = each(at, count, (piece) => {
        if (fd === 1) said.push(piece.slice());
        else console.error(new TextDecoder().decode(piece));
        return piece.length;
      });
      view().setUint32(told, n, true);
      return 0;
    },
    random_get: (at: number, length: number): number => {
      // Nothing that is drawn comes from here: hash maps alone ask for it, whose order reaches no result.
      bytes(at, length).fill(7);
      return 0;
    },
    clock_time_get: (_id: number, _precision: bigint, at: number): number => {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    environ_sizes_get: (count: number, size: number): number => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: (): number => 0,
    args_sizes_get: (count: number, size: number): number => wasi.environ_sizes_get(count, size),
    args_get: (): number => 0,
    proc_exit: (code: number): never => {
      throw new Exit(String(code));
    },
  };
  // Whatever else it might ask for does not exist here: 52 is "function not supported".
  const all = new Proxy(wasi, { get: (known, name) => known[name as keyof typeof wasi] ?? ((): number => 52) });
  const imports: Record<string, WebAssembly.ImportValue> = {};
  for (const wanted of WebAssembly.Module.imports(module!)) imports[wanted.name] = all[wanted.name as keyof typeof wasi];
  const instance = new WebAssembly.Instance(module!, { wasi_snapshot_preview1: imports });
  memory = instance.exports["memory"] as WebAssembly.Memory;
  try {
    (instance.exports["_start"] as () => void)();
  } catch (error) {
    if (!(error instanceof Exit) || error.message !== "0") throw error;
  }
  const out = new Uint8Array(said.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of said) {
    out.set(piece, at);
    at += piece.length;
  }
  return new TextDecoder().decode(out);
}

function work({ id, request }: { id: number; request: string }): void {
  const begin = performance.now();
  try {
    const answer = call(request);
    postMessage({ id, answer, ms: performance.now() - begin });
  } catch (error) {
    postMessage({ id, answer: JSON.stringify({ arms: [], error: String(error) }), ms: performance.now() - begin });
  }
}

onmessage = (event: MessageEvent<{ id: number; request: string }>): void => {
  if (module) work(event.data);
  else waiting.push(event.data);
};

fetch("playground.wasm")
  .then((answer) => answer.arrayBuffer())
  .then((buffer) => WebAssembly.compile(buffer))
  .then((compiled) => {
    module = compiled;
    for (const item of waiting.splice(0)) work(item);
  });
