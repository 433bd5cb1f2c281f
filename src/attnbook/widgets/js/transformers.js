// The bundle of Part III; the pictures that every part uses are in it too, so that a page needs
// one bundle alone.

import { open } from "./door.js";
import * as blockModel from "./block-model.js";
import { widget as block } from "./block.js";
import { widget as browser } from "./browser.js";
import * as browserMaths from "./browser-maths.js";
import { widget as heatmap } from "./heatmap.js";
import { widget as heads } from "./heads.js";
import { widget as checkpoint } from "./checkpoint.js";
import { widget as positions } from "./positions.js";
import * as positionsMath from "./positions-math.js";
import { widget as prediction } from "./prediction.js";
import { widget as steps } from "./steps.js";
import { widget as translator } from "./translator.js";
import * as translatorModel from "./translator-model.js";
import * as translatorText from "./translator-text.js";

export const kinds = {
  block, browser, heads, heatmap, steps, checkpoint, prediction, positions, translator,
};

export const { mount, hydrate, render } = open(kinds);

/** The mathematics, for tests. */
export const maths = {
  ...blockModel, ...browserMaths, ...positionsMath,
  translator: { ...translatorModel, ...translatorText },
};

export default { render };
