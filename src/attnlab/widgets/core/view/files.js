// Files that the reader takes home: written here, saved by the browser, sent nowhere.

/** Text as XML: no markup, and no control character that XML forbids. @type {(text: string) => string} */
export const xml = (text) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML forbids
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** One cell of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets a quote. */
function csvCell(value) {
  if (typeof value === "number") return String(Number(value.toFixed(6)));
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** @type {(rows: (string|number)[][]) => string} */
export const csv = (rows) => rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");

/** @type {(name: string, content: Blob|string, type?: string) => void} */
export function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link); // Firefox follows only links that are in the page
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
