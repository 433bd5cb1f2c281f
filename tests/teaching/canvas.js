// What is written on a canvas, which nothing else can tell: kept with it, as `written`.
(() => {
  const brush = CanvasRenderingContext2D.prototype;
  const fresh = (canvas) => { canvas.written = []; };
  for (const side of ["width", "height"]) {
    const whole = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
    Object.defineProperty(HTMLCanvasElement.prototype, side,
      { ...whole, set(value) { fresh(this); whole.set.call(this, value); } });
  }
  const { fillRect, fillText } = brush;
  brush.fillRect = function (x, y, width, height) {
    const { a, d } = this.getTransform();
    const { canvas } = this;
    if (width * a > canvas.width - 2 && height * d > canvas.height - 2) fresh(canvas);
    fillRect.call(this, x, y, width, height);
  };
  brush.fillText = function (text, x, y) {
    const at = this.getTransform();
    const ink = this.measureText(text);
    const ends = [[x - ink.actualBoundingBoxLeft, y - ink.actualBoundingBoxAscent],
      [x + ink.actualBoundingBoxRight, y + ink.actualBoundingBoxDescent]]
      .map(([u, v]) => new DOMPoint(u, v).matrixTransform(at));
    const size = parseFloat(this.font.match(/([\d.]+)px/)[1]) * Math.hypot(at.a, at.b);
    const [xs, ys] = [ends.map((end) => end.x), ends.map((end) => end.y)];
    (this.canvas.written ??= []).push({ text, size, xs, ys });
    fillText.call(this, text, x, y);
  };
})()
