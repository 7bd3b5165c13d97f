import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The page is one script and one style sheet, with nothing inline, so that its content security policy can be strict. */
export default defineConfig({
  root: here("."),
  base: "./",
  publicDir: false,
  build: {
    outDir: here("../../../dist/sandbox/page"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
})
