// Parses GIFT from standard input by gift-pegjs, the parser of GIFT's extension for VS Code.
const { parse } = require("gift-pegjs");
const text = require("node:fs").readFileSync(0, "utf8");
process.stdout.write(JSON.stringify(parse(text)));
