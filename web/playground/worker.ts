// The simulator, beside the page's own thread.

import { Program } from "./wasi";

export interface Question {
  id: number;
  request: string;
}

export interface Reply {
  id: number;
  answer: string;
  ms: number;
}

let program: Program | null = null;
let failure = "";
/** Asked before the program was there; the newest is enough. */
let waiting: Question | null = null;

function work({ id, request }: Question): void {
  const begin = performance.now();
  let answer: string;
  try {
    if (!program) throw new Error(failure);
    answer = program.call(request);
  } catch (error) {
    answer = JSON.stringify({ arms: [], error: String(error instanceof Error ? error.message : error) });
  }
  postMessage({ id, answer, ms: performance.now() - begin } satisfies Reply);
}

onmessage = (event: MessageEvent<Question>): void => {
  if (program || failure) work(event.data);
  else waiting = event.data;
};

async function load(): Promise<WebAssembly.Module> {
  const answer = await fetch("playground.wasm");
  if (!answer.ok) throw new Error(`playground.wasm: ${answer.status}`);
  // Compiled while it arrives, where the host says what it is.
  if (answer.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(answer);
  return WebAssembly.compile(await answer.arrayBuffer());
}

load()
  .then(
    (module) => (program = new Program(module)),
    (error: unknown) => (failure = `The simulator could not be loaded: ${String(error instanceof Error ? error.message : error)}`),
  )
  .then(() => {
    if (waiting) work(waiting);
    waiting = null;
  });
