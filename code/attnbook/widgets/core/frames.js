// The frames over the map: one around the cell that is pointed at, one around the pinned query.

export class Frames {
  constructor(root) {
    this.ring = root.querySelector(".ah-ring");
    this.row = root.querySelector(".ah-row");
  }

  show({ pinned, keys }, layout, cell) {
    const place = (node, i, left, width) => {
      node.style.transform = `translate(${left}px, ${layout.top + i * layout.cellHeight}px)`;
      node.style.width = `${width}px`;
      node.style.height = `${layout.cellHeight}px`;
    };
    this.row.hidden = pinned === null;
    if (pinned !== null) place(this.row, pinned, 2, layout.left - 2 + keys * layout.cellWidth);
    this.ring.hidden = cell === null;
    if (cell) place(this.ring, cell.i, layout.left + cell.j * layout.cellWidth, layout.cellWidth);
  }
}
