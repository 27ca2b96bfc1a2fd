// The way through the course that a reader follows: kept in this browser, shown by the style sheets.
const KEY = "attn-way";
const doors = [...document.querySelectorAll(".attn-door")];

const follow = (way) => {
  if (way) document.documentElement.dataset.way = way;
  else delete document.documentElement.dataset.way;
  for (const door of doors) {
    door.querySelector("button").setAttribute("aria-pressed", String(door.dataset.way === way));
  }
};
const choose = (way) => {
  follow(way);
  try {
    if (way) localStorage.setItem(KEY, way);
    else localStorage.removeItem(KEY);
  } catch { /* no storage: the choice lasts as long as the page */ }
};

for (const door of doors) {
  const { way } = door.dataset;
  const chosen = () => document.documentElement.dataset.way === way;
  door.querySelector("button").addEventListener("click", () => choose(chosen() ? null : way));
  door.querySelector("a").addEventListener("click", () => choose(way));
}
follow(document.documentElement.dataset.way);
