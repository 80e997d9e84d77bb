// The timeline in the browser: what one can do with the drawing of canvas.js.

/** Two times; all three where it had to wait. */
function times(data, i) {
  const [start, began, end] = [data.start[i], data.began[i], data.end[i]];
  if (began <= start) return `${seconds(start)} to ${seconds(end)} (${seconds(end - start)})`;
  if (data.message[i] < 0) return `posted at ${seconds(start)}, still waiting at ${seconds(end)}`;
  return `posted at ${seconds(start)}, under way from ${seconds(began)} to ${seconds(end)} (${seconds(end - began)})`;
}

/** What a hovered event says, line by line. */
function tell(data, i) {
  const kind = data.kinds[data.kind[i]], peer = data.peer[i], name = data.names[data.name[i]];
  const whom = peer < 0 ? "" : kind === "send" ? ` to rank ${peer}` : kind === "recv" ? ` from rank ${peer}` : `, root ${peer}`;
  const lines = [`${data.whose[data.rank[i]]}: ${data.named[data.kind[i]] && name || kind}${whom}`];
  if (!data.named[data.kind[i]] && name) lines.push(name);
  if (data.nbytes[i]) lines.push(bytes(data.nbytes[i]));
  lines.push(times(data, i));
  if (data.wait[i] > 0) lines.push(`stood still for ${seconds(data.wait[i])}`);
  if (data.wheres[data.where[i]]) lines.push(data.wheres[data.where[i]]);
  return lines;
}

function render({ model, el }) {
  const data = model.get("data"), root = figure(el, `${model.get("title")}: ${model.get("label")}`);
  if (model.get("waiting")) {
    const picture = make("div", { class: "ls-picture" });
    picture.innerHTML = model.get("waiting");
    root.append(picture);
  }
  if (!data) return undefined;
  root.append(make("div", { class: "ls-caption" }, model.get("label")));
  if (!data.start.length) {
    root.append(make("div", { class: "ls-hint" }, "Nothing was recorded: no rank computed or communicated."));
    return undefined;
  }
  const area = make("div"), views = model.get("views");
  let undo = () => {};
  const show = (shown) => {
    undo();
    area.replaceChildren();
    const explored = explore(area, shown, model.get("label"));
    undo = explored.undo;
    area.append(legend(shown), ...(shown.notes ? [make("div", { class: "ls-hint" }, shown.notes)] : []), explored.readout);
  };
  const buttons = views.map(([name, view]) => make("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
    const pressed = event.currentTarget, on = pressed.getAttribute("aria-pressed") === "false";
    for (const button of buttons) button.setAttribute("aria-pressed", String(on && button === pressed));
    show(on ? view : data);
  } }, name));
  if (buttons.length) root.append(make("div", { class: "ls-bar" }, ...buttons));
  root.append(area);
  show(data);
  return () => undo();
}

function legend(data) {
  const shown = data.kinds.map((kind, k) => make("span", {}, make("i", { style: `background:${data.colours[k]}` }), kind));
  if (data.pale) {
    const colour = data.colours[data.kind[data.began.findIndex((began, i) => began > data.start[i])]];
    shown.push(make("span", {}, make("i", { style: `background:color-mix(in srgb, ${colour} ${100 * PALE}%, transparent)` }), data.pale));
  }
  return make("div", { class: "ls-legend" }, ...shown);
}

const MOST_STEPS = 200;

/** The times at which the clock stops: whenever something begins or ends, or evenly spread where that is too often. */
function momentsOf(data) {
  const found = [...new Set([0, ...data.began, ...data.end, data.total])].filter((t) => t >= 0).sort((a, b) => a - b);
  return found.length <= MOST_STEPS + 1 ? found : Array.from({ length: MOST_STEPS + 1 }, (_, k) => (data.total * k) / MOST_STEPS);
}

/** What is under way at a moment, in words: the lanes that do the same are named together. */
function underWay(data, moment) {
  const lanes = new Map();
  for (let i = 0; i < data.start.length; i++) {
    if (data.start[i] >= moment || moment > data.end[i]) continue;
    const does = moment > data.began[i] ? data.kinds[data.kind[i]] : `${data.kinds[data.kind[i]]} waits`;
    lanes.set(does, (lanes.get(does) ?? new Set()).add(data.labels[data.rank[i]]));
  }
  const told = [...lanes].map(([does, who]) => `${does}: ${[...who].slice(0, 8).join(", ")}${who.size > 8 ? " …" : ""}`);
  return `${seconds(moment)}. ${told.join("; ") || "Nothing is under way"}.`;
}

/** The canvas with everything that one can do to it; where the chosen event is told, and what ends it. */
function explore(root, data, caption) {
  const lanes = lanesOf(data), lay = new Layout(data, 860, false);
  const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": `${caption}. Plus and minus zoom, left and right move, 0 resets, n and p go from event to event, space plays.` });
  const readout = make("div", { class: "ls-readout ls-lines", "aria-live": "polite" }), rest = "Point at a bar, or press n and p, to read it.";
  const hint = make("span", { class: "ls-hint" });
  const moments = momentsOf(data), last = () => moments.length - 1;
  let chosen = -1, tall = false, asked = 0, clock = null;

  const draw = () => {
    asked = 0;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(lay.width * ratio);
    canvas.height = Math.round(lay.height * ratio);
    canvas.style.width = `${lay.width}px`;
    canvas.style.height = `${lay.height}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const crowded = paint(context, lay, lanes, coloursOf(root), chosen);
    if (clock !== null) paintClock(context, lay, coloursOf(root), clock);
    hint.textContent = crowded ? `Arrows: the first ${MOST_ARROWS} messages only. Zoom in to see all.` : "Click the figure, then the wheel zooms. Drag moves it.";
    Object.assign(canvas.closest(".ls-figure").dataset, { from: lay.from, to: lay.to });
  };
  const redraw = () => { asked ||= requestAnimationFrame(draw); };
  const choose = (i) => {
    if (i === chosen) return;
    chosen = i;
    readout.replaceChildren(...(i < 0 ? [rest] : tell(data, i)).map((line) => make("div", {}, line)));
    redraw();
  };
  const go = (by) => {  // from event to event in the lane of the chosen one
    const mine = chosen < 0 ? lanes.find((lane) => lane.length) : lanes[data.rank[chosen] * data.depth + data.row[chosen]];
    const next = chosen < 0 ? mine[0] : mine[Math.max(0, Math.min(mine.length - 1, mine.indexOf(chosen) + by))];
    if (data.start[next] < lay.from || data.start[next] > lay.to) lay.show(data.start[next] - (lay.to - lay.from) / 2, lay.to - lay.from);
    choose(next);
  };
  const control = controls({
    name: "step", pause: () => Math.max(60, Math.min(500, 15_000 / last())), at: last(), last,
    told: (step) => (step === last() ? "all" : seconds(moments[step])),
    draw: (step) => {
      clock = step === last() ? null : moments[step];
      if (clock !== null && (clock < lay.from || clock > lay.to)) lay.show(clock - (lay.to - lay.from) / 2, lay.to - lay.from);
      choose(-1);
      readout.replaceChildren(make("div", {}, clock === null ? rest : underWay(data, clock)));
      redraw();
    },
  });
  const middle = () => (lay.from + lay.to) / 2, reset = () => lay.show(0, data.total || 1);
  const actions = {
    "+": () => lay.zoom(1.5, middle()), "=": () => lay.zoom(1.5, middle()), "-": () => lay.zoom(1 / 1.5, middle()),
    ArrowLeft: () => lay.pan((lay.from - lay.to) / 8), ArrowRight: () => lay.pan((lay.to - lay.from) / 8),
    0: reset, Home: reset, n: () => go(1), p: () => go(-1), Escape: () => choose(-1), " ": control.toggle,
  };
  const does = (key) => () => { actions[key](); redraw(); };

  canvas.addEventListener("keydown", (event) => {
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    does(event.key)();
  });
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey && canvas.getRootNode().activeElement !== canvas) return;
    event.preventDefault();
    lay.zoom(Math.exp(-event.deltaY / 300), lay.t(event.offsetX));
    redraw();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); canvas.focus({ preventScroll: true }); });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) lay.pan(-event.movementX / lay.scale);
    choose(event.buttons & 1 ? -1 : hit(lay, lanes, event.offsetX, event.offsetY));
    redraw();
  });
  canvas.addEventListener("pointerleave", () => choose(-1));
  canvas.addEventListener("dblclick", does("0"));

  const button = (label, key, words) => make("button", { type: "button", "aria-label": label, title: label, onclick: does(key) }, words);
  const bar = make("div", { class: "ls-bar" }, button("zoom in", "+", "+"), button("zoom out", "-", "−"),
    button("earlier", "ArrowLeft", "←"), button("later", "ArrowRight", "→"), button("show all", "0", "Reset"));
  if (lay.row < 12) {
    bar.append(make("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
      tall = !tall;
      event.currentTarget.setAttribute("aria-pressed", String(tall));
      lay.setRow(tall);
      redraw();
    } }, "Tall lanes"));
  }
  bar.append(hint);
  const scroller = make("div", { class: "ls-scroll" }, canvas);
  readout.append(rest);
  if (last() > 1) root.append(make("div", { class: "ls-bar" }, ...control.nodes));
  root.append(bar, scroller);

  const resized = new ResizeObserver(() => { lay.width = Math.max(320, scroller.clientWidth || 860); redraw(); });
  resized.observe(scroller);
  const themed = new MutationObserver(redraw);
  themed.observe(document.body, { attributes: true });
  draw();
  return { readout, undo: () => { control.stop(); resized.disconnect(); themed.disconnect(); } };
}

export default { render };
