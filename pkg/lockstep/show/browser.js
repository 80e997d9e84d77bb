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
