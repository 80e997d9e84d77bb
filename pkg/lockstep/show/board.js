// A grid of stages and slots. What is placed goes to Python, which says what stands there and which rule it breaks.

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };
const KEYS = "Arrows move. F or B and a number write, Enter takes the next number, Delete clears. Or drag a pass to a cell.";

function render({ model, el }) {
  const drawn = () => model.get("drawn"), root = figure(el, drawn().task);
  const grid = make("div", { class: "ls-grid", role: "grid", "aria-label": `${drawn().task}. ${KEYS}` });
  const needs = make("div", { class: "ls-bar", role: "group" }), counts = make("div");
  const said = make("div", { class: "ls-said", role: "status" }), result = make("div");
  const train = make("button", { type: "button", onclick: () => model.send({ train: true }) }, "Train with it");
  const copy = make("button", { type: "button", onclick: copied }, "Copy as text");
  let at = [0, 0], letter = "", written = "", armed = "", dragged = null, nodes = [], last = "F", unkept = 0;

  const stands = ([stage, slot]) => drawn().cells[stage][slot];
  const node = ([stage, slot]) => nodes[stage].cells[slot];
  const put = (where, cell) => model.send({ put: [...where, cell] });

  function build() {
    const { cells } = drawn();
    grid.style.setProperty("--ls-slots", cells[0].length);
    grid.style.setProperty("--ls-least", drawn().most > 10 ? "29px" : "20px");
    const head = make("div", { role: "row" }, make("span", { role: "columnheader" }, "slot"),
      ...cells[0].map((_, slot) => make("span", { role: "columnheader" }, String(slot))));
    nodes = cells.map((row, stage) => {
      const keeps = make("span"), header = make("span", { role: "rowheader" }, make("span", {}, `stage ${stage}`), keeps);
      const made = row.map((_, slot) => make("div", { role: "gridcell", class: "ls-cell", "data-at": `${stage},${slot}` }));
      return { keeps, cells: made, row: make("div", { role: "row" }, header, ...made) };
    });
    grid.replaceChildren(head, ...nodes.map(({ row }) => row));
  }

  /** `fresh`: Python has just said something of what was placed; else a marked cell says why it is marked. */
  function draw(fresh = false) {
    const { cells, marks, kept, colours, legal } = drawn(), had = grid.contains(document.activeElement);
    if (nodes[0]?.cells.length !== cells[0].length) build();
    at = [at[0], Math.min(at[1], cells[0].length - 1)];
    cells.forEach((row, stage) => {
      nodes[stage].keeps.textContent = `keeps ${kept[stage]}`;
      row.forEach((cell, slot) => {
        const here = at[0] === stage && at[1] === slot, why = marks[stage][slot], [back, ink] = colours[cell[0]] ?? ["", ""];
        const one = nodes[stage].cells[slot], empty = cell === "..";
        one.textContent = here && letter ? `${letter}_` : empty ? "" : cell;
        one.style.background = why ? "" : back;
        one.style.color = why ? "" : ink;
        one.classList.toggle("ls-broken", Boolean(why));
        one.draggable = !empty;
        one.tabIndex = here ? 0 : -1;
        one.title = why;
        one.setAttribute("aria-label", `stage ${stage}, slot ${slot}: ${empty ? "nothing" : cell}${why ? `. Marked: ${why}` : ""}`);
        one.setAttribute("aria-invalid", String(Boolean(why)));
        one.setAttribute("aria-selected", String(here));
      });
    });
    if (had) node(at).focus();
    offer();
    said.textContent = marks[at[0]][at[1]] && !fresh ? marks[at[0]][at[1]] : drawn().message;
    counts.textContent = drawn().counts;
    train.setAttribute("aria-disabled", String(!legal));
    if (fresh) tell(drawn());
  }

  /** The passes that the chosen row still needs. */
  function offer() {
    const stage = at[0], row = drawn().missing[stage], words = `stage ${stage} ${row.length ? "still needs" : "has all its passes"}`;
    const chip = (cell) => make("button", { type: "button", draggable: "true", "aria-pressed": String(cell === armed), "data-cell": cell,
      onclick: () => take(cell) }, cell);
    const focused = needs.contains(document.activeElement) && document.activeElement.dataset.cell;
    needs.setAttribute("aria-label", words);
    needs.replaceChildren(make("span", {}, words), ...["F", "B"].flatMap((kind) => row.filter((cell) => cell[0] === kind)).map(chip));
    if (focused) (needs.querySelector(`[data-cell="${focused}"]`) ?? node(at)).focus();
  }

  function take(cell) {
    [armed, letter, written] = [armed === cell ? "" : cell, "", ""];
    draw();
    if (armed) said.textContent = `Now choose a cell for ${armed}.`;
  }

  function go([stage, slot]) {
    const { cells } = drawn(), within = (x, last) => Math.max(0, Math.min(last, x));
    if (letter) next();
    [letter, written] = ["", ""];
    at = [within(stage, cells.length - 1), within(slot, cells[0].length - 1)];
    draw();
    node(at).focus();
  }

  /** A letter waits for its number. */
  function hold(key) {
    last = key || last;
    [letter, written, armed] = [key, "", ""];
    draw();
  }

  /** Only the letter goes to Python: it knows the first number that the row still needs. */
  function next() {
    put(at, letter);
    letter = "";
  }

  /** Enter after a move: the next pass of the kind that was written last. */
  function another() {
    const there = stands(at), needed = drawn().missing[at[0]].some((cell) => cell[0] === last);
    if (there !== "..") said.textContent = `${there} stands here. Delete clears it; F or B and a number write another.`;
    else if (!needed) said.textContent = `Stage ${at[0]} has every ${last}. Type ${last === "F" ? "B" : "F"} for the other passes.`;
    else put(at, last);
  }

  function digit(key) {
    const kind = letter || written[0] || stands(at)[0];
    if (kind !== "F" && kind !== "B") return (said.textContent = "Type F or B first, then the number.");
    const longer = letter ? "" : written.slice(1) + key;  // the second digit of a number that was just written
    last = kind;
    written = kind + Number(longer && Number(longer) < drawn().most ? longer : key);
    letter = "";
    put(at, written);
  }

  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event, step = STEPS[key];
    if (step) go([at[0] + step[0], at[1] + step[1]]);
    else if (/^[fb]$/i.test(key)) hold(key.toUpperCase());
    else if (/^\d$/.test(key)) digit(key);
    else if (["Delete", "Backspace", " "].includes(key)) clear();
    else if (key === "Escape") hold("");
    else if (key === "Enter" && letter) next();
    else if (key === "Enter" && armed) place(at);
    else if (key === "Enter") another();
    else return;
    event.preventDefault();
  });

  function clear() {
    if (letter) return hold("");
    written = "";
    return put(at, "..");
  }

  function place(where) {
    const cell = armed;
    armed = "";
    go(where);
    put(where, cell);
  }

  // ---- By mouse

  const cellAt = (event) => event.target.closest?.(".ls-cell")?.dataset.at.split(",").map(Number);
  grid.addEventListener("click", (event) => {
    const where = cellAt(event);
    if (where) armed ? place(where) : go(where);
  });
  root.addEventListener("dragstart", (event) => {
    const from = cellAt(event), { cell } = event.target.dataset;
    dragged = from ? { from } : { cell };
    event.dataTransfer.setData("text/plain", cell ?? stands(from));
  });
  root.addEventListener("dragend", () => { dragged = null; });
  grid.addEventListener("dragover", (event) => { if (dragged && cellAt(event)) event.preventDefault(); });
  grid.addEventListener("drop", (event) => {
    const where = cellAt(event);
    if (!dragged || !where) return;
    event.preventDefault();
    const { from, cell } = dragged;
    dragged = null;
    go(where);
    if (cell) put(where, cell);
    else if (String(from) !== String(where)) model.send({ move: [...from, ...where] });
  });

  // ---- What comes of it

  /** The picture and the losses of a drawing that has trained. */
  function tell({ picture, losses }) {
    if (!picture) return result.replaceChildren();
    const shown = make("div", { class: "ls-picture" }), names = ["step", "your drawing", "one rank"];
    shown.innerHTML = picture;
    return result.replaceChildren(shown, make("table", {}, make("caption", {}, "Loss before each step"),
      make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...losses.map((row, step) => make("tr", {}, make("th", { scope: "row" }, String(step)),
        ...row.map((loss) => make("td", {}, loss)))))));
  }

  async function copied() {
    const { text } = drawn();
    if (!text.trim()) return (said.textContent = "The board is empty: there is nothing to copy.");
    try {
      await navigator.clipboard.writeText(text);
      return (said.textContent = "The text is copied. Paste it between the quotes of your answer.");
    } catch {
      const area = make("textarea", { readonly: true, rows: String(drawn().cells.length), "aria-label": "The drawing as text" });
      area.value = text;
      result.replaceChildren(area);
      area.select();
      return (said.textContent = "The browser doesn't let the board copy. The text stands below, selected: copy it with Ctrl+C.");
    }
  }

  /** The notebook's file gets the drawing as it stands: when the learner pauses, and when the focus leaves the board. */
  function keepSoon(wait) {
    clearTimeout(unkept);
    unkept = setTimeout(() => model.send({ keep: true }), wait);
  }
  root.addEventListener("focusout", (event) => { if (!root.contains(event.relatedTarget)) keepSoon(0); });

  root.append(make("div", { class: "ls-question" }, drawn().task), grid, needs, said, counts,
    make("div", { class: "ls-bar" }, train, copy), make("div", { class: "ls-keys" }, KEYS), result);
  draw(true);
  return follow(model, ["drawn"], () => {
    draw(true);
    keepSoon(2000);
  });
}

export default { render };
