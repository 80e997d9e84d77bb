// Three axes and two places for them: two go inside the nodes, one between them. Python has drawn every placement.

const NEAR = 5;  // pixels: what moves less is a click

function render({ model, el }) {
  const [axes, jobs, frames, captions] = ["axes", "jobs", "frames", "captions"].map((name) => model.get(name));
  const root = figure(el, model.get("label")), picture = make("div", { class: "ls-picture" });
  const told = make("div", { class: "ls-unseen", "aria-live": "polite" });
  let across = model.get("across"), job = 0;

  const places = ["inside the nodes", "between the nodes"].map((name) => {
    const chips = make("span", { class: "ls-chips" });
    return { node: make("div", { class: "ls-zone", role: "group", "aria-label": name }, make("span", {}, name), chips), chips };
  });
  const chips = axes.map((axis, n) => chip(axis, n));

  function chip(axis, n) {
    let from = null, moved = false;
    const node = make("button", { type: "button", class: "ls-chip" }, axis);
    node.addEventListener("pointerdown", (event) => {
      [from, moved] = [[event.clientX, event.clientY], false];
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [x, y] = [event.clientX - from[0], event.clientY - from[1]];
      moved ||= Math.hypot(x, y) > NEAR;
      if (moved) node.style.transform = `translate(${x}px, ${y}px)`;
    });
    node.addEventListener("pointerup", (event) => {
      node.style.transform = "";
      if (from && moved) dropped(n, event);
      from = null;
    });
    node.addEventListener("pointercancel", () => { [from, moved, node.style.transform] = [null, false, ""]; });
    node.addEventListener("click", () => { if (!moved) put(n); moved = false; });
    return node;
  }

  /** Dropped between the nodes, an axis goes there; dropped inside, the one from between changes places with the nearest. */
  function dropped(n, event) {
    const zone = places.findIndex(({ node }) => within(node, event));
    if (zone === 1) put(n);
    if (zone === 0 && n === across) put(nearest(chips.filter((_, other) => other !== n), event));
  }

  function within(node, { clientX: x, clientY: y }) {
    const box = node.getBoundingClientRect();
    return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  }

  function nearest(nodes, { clientX }) {
    const far = (node) => Math.abs(node.getBoundingClientRect().left + node.offsetWidth / 2 - clientX);
    return chips.indexOf(nodes.reduce((a, b) => (far(b) < far(a) ? b : a)));
  }

  function put(n) {
    across = n;
    draw();
    chips[n].focus({ preventScroll: true });
  }

  function draw() {
    chips.forEach((node, n) => {
      const place = places[n === across ? 1 : 0].chips;
      if (node.parentNode !== place) place.append(node);
      node.setAttribute("aria-pressed", String(n === across));
      node.setAttribute("aria-label", `${axes[n]}: ${n === across ? "runs between the nodes" : "run it between the nodes"}`);
    });
    picture.innerHTML = frames[job][across];
    told.textContent = captions[job][across];
  }

  const chosen = slider("GPT", { min: 0, max: jobs.length - 1, value: job }, (stop) => jobs[stop], (stop) => { job = stop; draw(); });
  root.append(make("div", { class: "ls-bar" }, ...places.map(({ node }) => node)));
  if (jobs.length > 1) root.append(make("div", { class: "ls-bar" }, chosen.node));
  root.append(picture, told);
  draw();
}

export default { render };
