import { defineConfig } from "vite";

// Fixed names and no hashes: the output is committed and embedded in the binary.
export default defineConfig({
  base: "/",
  build: {
    outDir: process.env.COVEY_WEB_OUT ?? "../crates/viewer/assets",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        assetFileNames: "app.[ext]",
        codeSplitting: false,
      },
    },
  },
});
