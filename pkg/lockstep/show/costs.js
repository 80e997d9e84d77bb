// Cost curves. Three sliders; Python computes and draws. The pointer, or the arrow keys, read the curves.

const ALPHA = [-8, -2], BANDWIDTH = [5, 12.5];  // powers of ten: seconds, bytes a second

function render({ model, el }) {
  const root = figure(el, "Cost of all-reduce algorithms");
  const picture = make("div", { class: "ls-picture", tabindex: "0", role: "group", "aria-label": "Cost curves; left and right read them at another size" });
  const readout = make("div", { class: "ls-readout", "aria-live": "polite" });
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const choices = model.get("choices");
  const alpha = slider("α", { min: ALPHA[0], max: ALPHA[1], step: 0.005, value: Math.log10(model.get("alpha")) },
    (power) => seconds(10 ** power), (power) => set("alpha", 10 ** power));
  const beta = slider("1/β", { min: BANDWIDTH[0], max: BANDWIDTH[1], step: 0.005, value: -Math.log10(model.get("beta")) },
    (power) => `${bytes(10 ** power)}/s`, (power) => set("beta", 10 ** -power));
  const ranks = slider("ranks", { min: 0, max: choices.length - 1, value: choices.indexOf(model.get("ranks")) },
    (index) => String(choices[index]), (index) => set("ranks", choices[index]));
  let at = -1;

  const read = () => {
    const { sizes, curves, area } = model.get("curves"), svg = picture.querySelector("svg");
    svg.querySelector(".ls-cross")?.remove();
    if (at < 0) {
      readout.textContent = "Point at the curves to read them.";
      return;
    }
    const x = area[0] + ((area[1] - area[0]) * at) / (sizes.length - 1);
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: area[2], y2: area[3], class: "ls-cross" })) mark.setAttribute(name, value);
    svg.append(mark);
    const sorted = Object.entries(curves).map(([name, times]) => [times[at], name]).sort((a, b) => a[0] - b[0]);
    readout.textContent = `${bytes(sizes[at])}: ${sorted.map(([t, name]) => `${name} ${seconds(t)}`).join(" · ")}`;
  };
  const draw = () => {
    picture.innerHTML = model.get("drawing");
    alpha.set(Math.log10(model.get("alpha")));
    beta.set(-Math.log10(model.get("beta")));
    ranks.set(choices.indexOf(model.get("ranks")));
    read();
  };
  const step = (to) => { at = Math.max(0, Math.min(model.get("curves").sizes.length - 1, to)); read(); };
  picture.addEventListener("pointermove", (event) => {
    const { sizes, area } = model.get("curves"), box = picture.querySelector("svg").getBoundingClientRect();
    const x = ((event.clientX - box.left) * 860) / box.width, share = (x - area[0]) / (area[1] - area[0]);
    if (share >= 0 && share <= 1) step(Math.round(share * (sizes.length - 1)));
  });
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(at < 0 ? Math.floor(model.get("curves").sizes.length / 2) : at + by);
  });
  root.append(make("div", { class: "ls-bar" }, alpha.node, beta.node, ranks.node), picture, readout);
  draw();
  return follow(model, ["drawing", "curves"], draw);
}

export default { render };
