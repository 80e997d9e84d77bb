// Cost curves: drawn ahead; the pointer, or the arrow keys, read them at a size.

function render({ model, el }) {
  const root = figure(el, model.get("label")), { sizes, area, linear } = model.get("reading");
  const readout = make("div", { class: "ls-readout", "aria-live": "polite" });
  let chosen = -1, drawn, picture;

  const read = () => {
    picture.querySelector(".ls-cross")?.remove();
    if (chosen < 0) {
      readout.textContent = "Point at the curves to read them.";
      return;
    }
    const [left, right, top, bottom] = area, x = left + ((right - left) * chosen) / (sizes.length - 1);
    picture.querySelector("svg").append(cross(x, top, bottom));
    const [alpha, beta, ranks] = drawn.map((stop, slider) => model.get("values")[slider][stop]);
    const times = Object.entries(linear[ranks]).map(([name, [messages, share]]) => [messages * alpha + share * sizes[chosen] * beta, name]);
    times.sort(([a], [b]) => a - b);
    readout.textContent = `${bytes(sizes[chosen])}: ${times.map(([t, name]) => `${name} ${seconds(t)}`).join(" · ")}`;
  };
  const step = (to) => { chosen = Math.max(0, Math.min(sizes.length - 1, to)); read(); };
  const stop = player({ model, root, more: (at, node) => { drawn = at; picture = node; read(); } });
  for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": "Cost curves; left and right read them at another size" })) picture.setAttribute(name, value);
  picture.addEventListener("pointermove", (event) => {
    const share = (across(picture, event) - area[0]) / (area[1] - area[0]);
    if (share >= 0 && share <= 1) step(Math.round(share * (sizes.length - 1)));
  });
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(chosen < 0 ? Math.floor(sizes.length / 2) : chosen + by);
  });
  root.append(readout);
  return stop;
}

export default { render };
