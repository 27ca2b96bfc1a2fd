// The contents beside a page follow the reader: the last heading above the line is the current one.
// A box that scrolls sideways can be scrolled by the keyboard. Evidence opens for a link into it.
const LINE = 120; // pixels below the top

const theirs = document.querySelector("nav.page-toc");
if (theirs) {
  const contents = theirs.cloneNode(true); // the theme marks its own, by other rules
  theirs.replaceWith(contents);
  const links = [...contents.querySelectorAll("a.nav-link")];
  const headings = links.map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))));
  const follow = () => {
    const above = headings.filter((heading) => heading?.checkVisibility() // not closed
      && heading.getBoundingClientRect().top <= LINE);
    const current = headings.lastIndexOf(above.at(-1));
    links.forEach((link, n) => {
      link.classList.toggle("active", n === current);
      if (n === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  }, { passive: true });
  follow();
}

const reach = () => {
  for (const box of document.querySelectorAll(".attn-scroll, .pst-scrollable-table-container")) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
addEventListener("resize", reach);
reach();

const open = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const closed = target ? target.closest("details.attn-evidence:not([open])") : null;
  if (!closed) return;
  closed.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", open);
open();
