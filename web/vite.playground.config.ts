import { defineConfig } from "vite";

// The playground: a folder for any static host, with fixed names. The WebAssembly beside it is built by `cargo xtask playground`.
export default defineConfig({
  root: "playground",
  base: "./",
  publicDir: false,
  build: {
    outDir: process.env.COVEY_PLAYGROUND_OUT ?? "../../crates/viewer/playground",
    // The WebAssembly lies in the same folder.
    emptyOutDir: process.env.COVEY_PLAYGROUND_OUT !== undefined,
    target: "es2022",
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: "playground.js",
        assetFileNames: "playground.[ext]",
        codeSplitting: false,
      },
    },
  },
  worker: {
    format: "es",
    rollupOptions: { output: { entryFileNames: "worker.js" } },
  },
});
