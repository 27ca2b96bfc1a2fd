// The frames over the map: one around the cell that is pointed at, one around the pinned query.

/** Frames row `i` of a map from `left` on, `width` wide. */
export function frameRow(node, layout, i, left, width) {
  node.style.transform = `translate(${left}px, ${layout.top + i * layout.cellHeight}px)`;
  node.style.width = `${width}px`;
  node.style.height = `${layout.cellHeight}px`;
}

export class Frames {
  constructor(root) {
    this.ring = root.querySelector(".ah-ring");
    this.row = root.querySelector(".ah-row");
  }

  show({ pinned, keys }, layout, cell) {
    const { left, cellWidth } = layout;
    this.row.hidden = pinned === null;
    if (pinned !== null) frameRow(this.row, layout, pinned, 2, left - 2 + keys * cellWidth);
    this.ring.hidden = cell === null;
    if (cell) frameRow(this.ring, layout, cell.i, left + cell.j * cellWidth, cellWidth);
  }
}
