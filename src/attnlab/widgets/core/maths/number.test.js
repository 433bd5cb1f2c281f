import assert from "node:assert/strict";
import { test } from "node:test";
import { asked, grouped, retold, understood, wantedOf, written } from "./number.js";

const whole = { whole: true, lowest: -1e9, highest: 1e9 };
const broken = { lowest: -1e9, highest: 1e9 };

const all = (box, read) => {
  for (const [number, texts] of Object.entries(read)) {
    for (const text of texts) assert.equal(understood(text, box).value, Number(number), text);
  }
};

test("numbers as they are written", () => {
  const both = {
    0: ["0", "-0", "−0"],
    3: ["3", "+3", " 3 ", "3.", "6/2", "3,0"],
    "-3": ["-3", "−3", "–3", "‐3", "‑3", "− 3"],
    12345: ["12345", "12 345", "12\u00a0345", "12\u202f345", "12\u2009345", "12'345", "12’345", "12 345,0", "12,345.0"],
    1000000: ["1,000,000", "1 000 000", "1.000.000", "1e6", "1E+6", "10^6", "10⁶", "1·10⁶", "1 × 10^6", "1.000.000,0"],
    1024: ["2^10", "2¹⁰", "1024", "1.024e3"],
  };
  all(whole, both);
  all(broken, both);
  all(broken, {
    0.5: ["0.5", "0,5", ".5", ",5", "1/2", "½", "5e-1", "2,5/5", "-1/-2", "5·10⁻¹", "5*10^-1", "2^-1"],
    "-0.5": ["−0.5", "-1/2", "−½"],
    1.5: ["1½", "1 ½", "1 1/2", "3/2"],
    "-1.5": ["−1½"],
    0.25: ["¼"],
    0.001: ["1e-3", "10⁻³", "10^-3", "1·10⁻³", "1e−3"],
    0.512: ["0,512", "0.512"],
    1024.512: ["1024,512", "1,024.512", "1.024,512", "1 024,512"],
    1.024: ["1.024", "1.0240", "1,0240"],
  });
});

test("a mark before three digits means what the box can take, or is asked about", () => {
  all(whole, { 37000: ["37,000", "37 000"], 8192: ["8,192", "8.192"] });
  all({ thousands: true, lowest: 1, highest: 1e6 }, { 10000: ["10,000"], 1.5: ["1,5"] });
  all({ lowest: 0, highest: 16 }, { 1.024: ["1.024"] });
  for (const text of ["37,000", "1,024"])
    assert.equal(understood(text, { lowest: 0, highest: 999 }).ask?.length, 2, text);
  all({ lowest: 100, highest: 1e6 }, { 1024: ["1,024"] });
  all({ whole: true, lowest: 1, highest: 64 }, { 37: ["37.000"] });
  assert.deepEqual(understood("1,024", broken).ask, [1024, 1.024]);
  assert.deepEqual(understood("−1,024", broken).ask, [-1024, -1.024]);
  assert.deepEqual(understood("37.000", whole).ask, [37000, 37]);
  assert.deepEqual(understood("1,024/2", broken).ask, [512, 0.512]);
  assert.equal(asked("1,024", [1024, 1.024]), "“1,024” may be 1024 or 1.024: write the one that you mean");
});

test("a share may be written in percent, where the numbers are shares", () => {
  const share = { lowest: 0, highest: 1 };
  all(share, { 0.5: ["50 %", "50%", "½"], 0.125: ["12,5 %"] });
  assert.match(understood("120 %", share).why, /too large$/);
  assert.match(understood("50 %", broken).why, /percent sign/);
});

test("what is no number is said to be none, and why", () => {
  const why = {
    "nothing is written": ["", "  "],
    "is not a number": [
      "one",
      "-",
      "e-",
      "1e",
      ".",
      "/",
      "1/",
      "/2",
      "1/2/3",
      "0x1",
      "NaN",
      "∞",
      "−∞",
      "Infinity",
      "1_000",
    ],
    "is more than one number": ["1,2,3", "1 2", "1 ↵ 2", "1;2", "(1, 2)", "10,00,000", "1,024,5", "[1 2 3]"],
    "is not a number ": ["--3", "+-3", "1.2.3", "1² 3", "a1", "½½", "<b>", "3 apples"],
    "is not written in the digits 0 to 9": ["١٢", "１２", "१२", "1٢"],
    "is too long: write fewer digits": ["9".repeat(400), "0.".padEnd(60, "3")],
    "has no value": ["1/0", "0/0"],
    "is too large": ["1e999", "10^400", "2e9"],
    "is too small": ["-2e9", "−10^10"],
  };
  for (const [clause, texts] of Object.entries(why)) {
    for (const text of texts) {
      const found = understood(text, broken);
      assert.ok(found.why?.includes(clause.trim()), `${text}: ${JSON.stringify(found)}`);
      assert.ok(found.why.length < 80);
    }
  }
  for (const text of ["2.5", "½", "0,5"]) assert.match(understood(text, whole).why, /is not whole$/);
});

test("how many decimals were written", () => {
  const counts = { "0.50": 2, "1,5": 1, 3: 0, "1,234.567": 3, "1/2": Infinity, "5e-1": Infinity, "½": Infinity };
  for (const [text, count] of Object.entries(counts)) assert.equal(understood(text).decimals, count, text);
});

test("what is written back is read as the same", () => {
  const numbers = [0, 1, -3, 999, 1000, 1024, -37000, 1048576, 0.5, 0.001, -1024.5, 1e-7, 12345.678, 1e21];
  for (const box of [{}, { thousands: true }]) {
    for (const value of numbers) assert.equal(understood(written(value, box), box).value, value, written(value, box));
  }
  assert.deepEqual(
    [1024, 37000, 1234567, 1024.5].map((value) => written(value)),
    ["1024", "37000", "1,234,567", "1,024.5"],
  );
  assert.deepEqual(
    [1024, -37000].map((value) => written(value, whole)),
    ["1,024", "−37,000"],
  );
  assert.deepEqual(
    [1 / 3, 1e-7, -0.5].map((value) => written(value)),
    ["0.33333333", "1e−7", "−0.5"],
  );
  assert.deepEqual(["999", "1000", "−1234567.1234567", "0.12345"].map(grouped), [
    "999",
    "1,000",
    "−1,234,567.1234567",
    "0.12345",
  ]);
  assert.equal(wantedOf({ whole: true, lowest: 128, highest: 1048576 }), "a whole number from 128 to 1,048,576");
  assert.equal(wantedOf({ lowest: -1000, highest: 1000 }), "a number from −1000 to 1000");
});

test("what has another form than what was typed is told", () => {
  const told = { "½": "0.5", "0,5": "0.5", "50 %": "0.5", "1e-3": "0.001", "37 000": "37,000", 8.192: "8,192" };
  for (const [text, mine] of Object.entries(told)) {
    const box = mine.includes(",") ? whole : { lowest: 0, highest: 1 };
    assert.equal(retold(text, understood(text, box).value, box), `“${text}” is read as ${mine}.`);
  }
  for (const text of ["0.50", "-3", "−3", "37,000", "37000", ".5"])
    assert.equal(retold(text, understood(text, whole).value ?? 0.5, whole), "", text);
});
