// The bundle of Part III; the pictures that every part uses are in it too, so that a page needs
// one bundle alone.

import { open } from "./door.js";
import { widget as heatmap } from "./heatmap.js";
import { widget as heads } from "./heads.js";
import { widget as checkpoint } from "./checkpoint.js";
import { widget as prediction } from "./prediction.js";
import { widget as steps } from "./steps.js";

export const kinds = { heads, heatmap, steps, checkpoint, prediction };

export const { mount, hydrate, render } = open(kinds);

export default { render };
