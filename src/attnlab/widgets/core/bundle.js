// Makes chunks of the sources: `npm run bundle -- FOLDER` writes FOLDER/core.js and FOLDER/<kind>.js
// for each folder that has a widget.js. Run by `python -m attnlab.widgets.build`.

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";

const here = resolve(fileURLToPath(import.meta.url), "../..");
const out = process.argv[2];

const modules = (folder) =>
  readdirSync(join(here, "core", folder))
    .sort()
    .filter((name) => name.endsWith(".js") && !name.endsWith(".test.js"))
    .map((name) => `export * from "./core/${folder}/${name}";`);

/** To a kind, every file of the core is one module, which the page has already. */
const coreApart = {
  name: "core-apart",
  setup: (step) => step.onResolve({ filter: /\/core\// }, () => ({ path: "core", external: true })),
};

async function write(name, source) {
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    format: "esm",
    target: "es2021",
    legalComments: "none",
    logLevel: "warning",
    write: false,
  });
  const { code } = await minify(outputFiles[0].text, { module: true, compress: { passes: 2 }, mangle: true });
  writeFileSync(join(out, `${name}.js`), `${code}\n`);
}

const contents = [...modules("maths"), ...modules("view")].join("\n");
await write("core", { stdin: { contents, resolveDir: here } });
const places = [here, join(here, "applications")];
for (const folder of places.flatMap((place) => readdirSync(place).map((kind) => join(place, kind)))) {
  const entry = join(folder, "widget.js");
  if (existsSync(entry)) await write(basename(folder), { entryPoints: [entry], plugins: [coreApart] });
}
