// The reader's way over the large map: a cell is pointed at, pinned, and may be given all weight.
import { CellExplorer } from "../../attnbook/widgets/browse/explorer.js";
import { headName } from "../../attnbook/widgets/browse/words.js";
import { COARSE } from "../../attnbook/widgets/core/gestures.js";
import { goldMark, shownText, strongest } from "../../attnbook/widgets/core/words.js";

const PLAY_HINT = COARSE ? "Tap a head in the small maps. Tap a cell of the large one: then you can put all weight on it."
  : "Choose a head in the small maps. Point at a cell of the large one, or focus it and move "
    + "with the arrow keys; a click or Enter pins the cell, and then you can put all weight on it.";

/** Why a cell is masked. */
function reason(picture, { i, j }) {
  if (picture.causal && j > i) return "not written yet";
  return j >= picture.length ? "padding" : "by the mask";
}

/** One cell of the large map in one line. */
export function describeCellOf(picture, cell) {
  const at = cell.i * picture.keys + cell.j;
  const [query, key] = [picture.queryLabels[cell.i], picture.keyLabels[cell.j]];
  const step = picture.kind === "encoder" ? "“" : "the step that writes “";
  const place = `${headName(picture.layer, picture.head)}: ${step}${query}” → “${key}”${goldMark(picture, at)}`;
  if (!picture.allowed[at]) return `${place}: masked (${reason(picture, cell)}) → weight 0`;
  return `${place} → weight ${shownText(picture, at)}`;
}

export class PlayExplorer extends CellExplorer {
  describe() {
    const { picture } = this;
    const cell = this.cell ?? picture.cell;
    if (!cell) return PLAY_HINT;
    const line = describeCellOf(picture, cell);
    const pinned = picture.cell && picture.cell.i === cell.i && picture.cell.j === cell.j;
    return pinned ? `${line}. Strongest keys: ${strongest(picture, cell.i, 3)}` : line;
  }
}
