// A chart: Vega has drawn it ahead, and given each mark its sentence. The pointer, or the arrow keys, read them.

function render({ model, el }) {
  const root = figure(el, "Chart"), picture = make("div", { class: "ls-picture", tabindex: "0", role: "group", "aria-label": "Chart; left and right go from point to point" });
  const readout = make("div", { class: "ls-readout", "aria-live": "polite" }, "Point at the chart to read it.");
  picture.innerHTML = model.get("drawing");
  root.setAttribute("aria-label", picture.querySelector("svg > title").textContent);
  const marks = [...picture.querySelectorAll('[role="graphics-symbol"][aria-label]')];
  let chosen = -1;
  const choose = (number) => {
    marks[chosen]?.classList.remove("ls-chosen");
    chosen = number;
    marks[chosen].classList.add("ls-chosen");
    readout.textContent = marks[chosen].getAttribute("aria-label");
  };
  const away = (mark, { clientX, clientY }) => {
    const box = mark.getBoundingClientRect();
    return Math.hypot(box.x + box.width / 2 - clientX, box.y + box.height / 2 - clientY);
  };
  picture.addEventListener("pointermove", (event) => {
    const distances = marks.map((mark) => away(mark, event)), nearest = Math.min(...distances);
    if (nearest < 60) choose(distances.indexOf(nearest));
  });
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !marks.length) return;
    event.preventDefault();
    choose(chosen < 0 ? 0 : (chosen + by + marks.length) % marks.length);
  });
  root.append(picture, readout);
}

export default { render };
