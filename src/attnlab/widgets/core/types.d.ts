// The types that JSDoc names: what the widgets' functions take and give. Not part of any chunk.

/** Numbers in a row: a list or a typed array. */
export interface Vec extends ArrayLike<number>, Iterable<number> {
  map(change: (value: number, at: number) => any): any;
  reduce<T>(add: (sum: T, value: number, at: number) => T, start: T): T;
}
export type Rows = number[][];
export type Flat = Float64Array | Float32Array;
export type May = ArrayLike<number | boolean>;
export type Range = [number, number] | number[];
export type Cell = { i: number; j: number };
export type Colour = ArrayLike<number> & Iterable<number>;

/** Where a widget's state lives: anywidget's model, or the JSON of a static page. */
export interface Store {
  get(name: string): any;
  set(changes: Record<string, any>): void;
  on(names: string[], listener: () => void): () => void;
}

/** A part of a view: an element, and what brings it up to date. */
export interface Part {
  node?: any;
  show: (...now: any[]) => void;
}

/** One head on its way to a canvas; `weights` and `pixels` are filled anew in every frame. */
export interface Head {
  scores: Float64Array | null;
  weights: Float64Array;
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
  image: ImageData;
  pixels: Uint32Array;
  nQ: number;
  nK: number;
}

/** What a kind's `build` returns. */
export interface Built {
  node: any;
  draw: () => void;
  attach?: (figure: HTMLElement) => () => void;
}

/** A view with a map of weights: what plot.js and its neighbours share. */
export interface View extends Built {
  store: Store;
  heads: Head[];
  tokens: string[];
  keyTokens: string[];
  pin: string; // the name of the trait that holds the pinned row
  cursor: Cell | null; // the cell under the pointer or the keyboard
  may: Uint8Array;
  by: number; // what scores are divided by
  palette: Record<string, Colour>;
  ramp: Uint32Array;
  family: string; // the page's font
  at: Layout;
  redraw: (() => void) & { cancel: () => void; now: () => void };
  [more: string]: any;
}

/** A kind of widget, as its widget.js exports it. */
export interface Kind {
  name?: string; // of a figure without a caption
  build: (store: Store) => Built;
  data: string[]; // traits whose change makes the view anew
  state: string[]; // traits whose change draws it again
  asks?: boolean; // a question: there is no picture to save
  drawsTable?: boolean; // it has a table of its own, in place of the server's
}

/** Sizes of a picture of cells. */
export interface Layout {
  cell: number;
  left: number;
  top: number;
  width: number;
  height: number;
  [more: string]: any;
}

/** What draws: on a canvas, or as the text of an SVG file. */
export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: Colour): void;
  frame(x: number, y: number, width: number, height: number, colour: Colour, thick: number): void;
  line(x1: number, y1: number, x2: number, y2: number, colour: Colour): void;
  text(text: string, x: number, y: number, style: Record<string, any>): void;
  matrix(head: Head, x: number, y: number, width: number, height: number): void;
}

/** A hypothesis of beam search; the first one of all has no `before`. */
export interface Hypothesis {
  word?: number;
  logP: number;
  before?: Hypothesis;
  [more: string]: any;
}
export type Scored = { one: Hypothesis; n: number; score: number };
export type Search = { steps: { all: Hypothesis[]; kept: Hypothesis[]; ended: Scored[] }[]; ranking: Scored[] };

/** A linear map: W flat, row after row, and b. */
export type Linear = { weight: Flat; bias?: Flat | null };
