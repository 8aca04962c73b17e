// The simulator, beside the page's own thread: one worker for each policy.

import { Program } from "./wasi";

/** First the program, then scenes. */
export type Question = { module: WebAssembly.Module } | { id: number; request: string };

export interface Reply {
  id: number;
  answer: string;
  ms: number;
}

let program: Program | null = null;

onmessage = (event: MessageEvent<Question>): void => {
  if ("module" in event.data) {
    program = new Program(event.data.module);
    return;
  }
  const { id, request } = event.data;
  const begin = performance.now();
  let answer: string;
  try {
    answer = program ? program.call(request) : JSON.stringify({ arms: [], error: "The simulator is not there." });
  } catch (error) {
    answer = JSON.stringify({ arms: [], error: String(error instanceof Error ? error.message : error) });
  }
  postMessage({ id, answer, ms: performance.now() - begin } satisfies Reply);
};
