// The bundle of Parts I and II.

import { open } from "./door.js";
// in this order: what is alike stands together, as gzip looks back 32 KB only
import { widget as heatmap } from "./heatmap.js";
import { widget as heads } from "./heads.js";
import { widget as painter } from "./painter.js";
import { widget as beam } from "./beam.js";
import { widget as checkpoint } from "./checkpoint.js";
import { widget as player } from "./player.js";
import { widget as unrolled } from "./unrolled.js";
import { widget as prediction } from "./prediction.js";
import { widget as scores } from "./scores.js";
import { widget as roles } from "./roles.js";
import { widget as steps } from "./steps.js";
import * as unrolledModel from "./unrolled-model.js";
import { frame, makeHead } from "./frame.js";
import * as math from "./math.js";
import { colours, ramp } from "./theme.js";

export const kinds = {
  beam, heads, heatmap, steps, checkpoint, prediction, roles, painter, player, unrolled, scores,
};

export const { mount, hydrate, render } = open(kinds);

/** The mathematics and the frame, for tests and benchmarks. */
export const maths = { ...math, ...unrolledModel, frame, makeHead, ramp, colours };

export default { render };
