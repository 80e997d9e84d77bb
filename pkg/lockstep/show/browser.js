// What every figure needs in the browser. It is put in front of each figure's own module.

/** make("button", {class: "x", onclick: f}, "text", child): an element. Text stays text. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** The figure's root. Keys pressed in it are its own and not JupyterLab's. */
function figure(el, label) {
  const root = make("div", { class: "ls-figure", role: "group", "aria-label": label, "data-lm-suppress-shortcuts": "true" });
  root.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  return root;
}

// ---- How a figure comes into the page

/** The models that the kernel keeps for its fields, by key, and who waits for them. */
const fields = (globalThis.lockstepFields ??= { models: new Map(), waiting: new Map() });

/** anywidget calls this when the kernel makes a field, or tells of it again after the page was loaded anew. */
async function initialize({ model }) {
  const key = model.get("_key"), kept = await model.widget_manager?.get_model(key);
  if (kept?.comm_live === false) return;  // it comes from the notebook's file, and nobody would hear it
  fields.models.set(key, model);
  model.on("msg:custom", (message) => { if (message?.kept) setTimeout(() => store(model.widget_manager, key, message.kept), 500); });
  fields.waiting.get(key)?.(model);
}

/** Put what the kernel has kept of a field into the notebook. A front end knows an output's id until the page is loaded
 * anew; from then on the kernel's update finds nothing, and the output is looked for by the field's key. */
function store(manager, key, data) {
  const cells = manager?.context?.model?.cells;
  for (let n = 0; n < (cells?.length ?? 0); n++) {
    const { outputs } = cells.get(n);
    for (let i = 0; i < (outputs?.length ?? 0); i++) {
      const output = outputs.get(i).toJSON(), html = [output.data?.["text/html"] ?? ""].flat().join("");
      if (html.includes(`ls-place ls-${key}"`) && html !== data["text/html"]) outputs.set(i, { ...output, data });
    }
  }
}

/** What lessons print is wrapped at words, as wide as the page is: JupyterLab breaks inside of them. */
function wrapPrints() {
  if (document.getElementById("ls-prints")) return;
  const rule = ".jp-OutputArea-output.jp-RenderedText pre { white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; }";
  document.head.append(make("style", { id: "ls-prints" }, rule));
}

/** Put the figure where its still picture is: from its state, or with the kernel's model as soon as there is one. */
function live(render, key, state) {
  wrapPrints();
  const enliven = (model) => {
    for (const place of document.querySelectorAll(`.ls-${CSS.escape(key)}:not(.ls-alive)`)) {
      const still = place.querySelector(".ls-still"), before = model && livingBefore(key);
      const el = before?.el ?? document.createElement("div");
      place.classList.add("ls-alive");
      if (!before) render({ model: model ?? aloneWith({ drawing: drawingIn(still), ...state }), el });
      still.replaceWith(el);
      if (before) before.focusAgain();
      else if (model) keepAlive(key, el);
    }
  };
  if (state) return enliven();
  fields.waiting.set(key, enliven);
  if (fields.models.has(key)) enliven(fields.models.get(key));
}

/** A field whose output is stored anew is taken out of the page, and goes on in its new place: its element, by key. */
const living = (fields.living ??= new Map());

function keepAlive(key, el) {
  let focused = null, left = 0;
  el.addEventListener("focusin", (event) => { focused = event.target; left = Infinity; });
  el.addEventListener("focusout", () => { left = performance.now(); });
  const focusAgain = () => {
    const lost = performance.now() - left < 1000;  // it left with the output, or a moment before
    if (focused && lost && !document.activeElement?.closest("input, textarea, button")) focused.focus({ preventScroll: true });
  };
  living.set(key, { el, focusAgain });
}

/** The field of this key, unless it stands in the page: then this is a second view of it. */
function livingBefore(key) {
  const before = living.get(key);
  return before && !before.el.isConnected ? before : undefined;
}

/** The SVG in an image. */
function drawingIn(image) {
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

/** A model without a kernel. */
function aloneWith(state) {
  const listeners = {};
  return {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      for (const listener of listeners[`change:${name}`] ?? []) listener();
    },
    save_changes: () => {},
    send: () => {},
    on: (name, listener) => (listeners[name] ??= []).push(listener),
    off: (name, listener) => { listeners[name] = (listeners[name] ?? []).filter((other) => other !== listener); },
  };
}

/** A state that was compressed. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// ---- Parts of figures

/** Give a verdict, or what was answered, its mark and colour: "right", "wrong", "told", or "" for none. */
function judged(node, state) {
  for (const each of ["right", "wrong", "told"]) node.classList.toggle(`ls-${each}`, each === state);
}

/** Follow the model's traits; the result undoes it. */
function follow(model, names, draw) {
  for (const name of names) model.on(`change:${name}`, draw);
  return () => {
    for (const name of names) model.off(`change:${name}`, draw);
  };
}

/** A range input with its name before it and its value behind it. */
function slider(label, attributes, told, changed) {
  const input = make("input", { type: "range", "aria-label": label, ...attributes });
  const output = make("output", {}, told(Number(input.value)));
  input.addEventListener("input", () => {
    output.textContent = told(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
    changed(Number(input.value));
  });
  const set = (value) => {
    input.value = value;
    output.textContent = told(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  set(input.value);
  return { node: make("label", { class: "ls-slider" }, make("span", {}, label), input, output), input, set };
}

/** A line from top to bottom of a drawing's axes, at x. */
function cross(x, top, bottom) {
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({ x1: x, x2: x, y1: top, y2: bottom, class: "ls-cross" })) mark.setAttribute(name, value);
  return mark;
}

/** Where the pointer is on the drawing in `picture`, in the drawing's own units. */
function across(picture, event) {
  const svg = picture.querySelector("svg"), box = svg.getBoundingClientRect();
  return ((event.clientX - box.left) * svg.viewBox.baseVal.width) / box.width;
}

const UNITS_OF_TIME = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const UNITS_OF_BYTES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

function timeUnit(t) {
  return UNITS_OF_TIME.find(([scale]) => Math.abs(t) * (1 + 1e-9) >= scale) ?? UNITS_OF_TIME[t ? 3 : 0];
}

function digits(x) {
  return x === 0 ? "0" : Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : String(Number(x.toPrecision(3)));
}

function seconds(t) {
  const [scale, unit] = timeUnit(t);
  return `${digits(t / scale)} ${unit}`;
}

function bytes(n) {
  const [scale, unit] = UNITS_OF_BYTES.find(([scale]) => Math.abs(n) >= scale * 0.9995) ?? [1, n === 1 ? "byte" : "bytes"];
  return `${digits(n / scale)} ${unit}`;
}
