// Python has drawn every state ahead. Sliders choose a sheet; on a sheet of several steps a slider and buttons choose one.

/** Draws into root. `more(at, picture)` is told of each new drawing, with the sliders' stops. Gives back what stops it. */
function player({ model, root, more = () => {} }) {
  const sheets = model.get("sheets"), choices = model.get("sliders");
  const picture = make("div", { class: "ls-picture" }), told = make("div", { class: "ls-unseen", "aria-live": "polite" });
  const at = choices.map((choice) => choice.at);
  const sheet = () => sheets[choices.reduce((index, { stops }, number) => index * stops.length + at[number], 0)];
  const last = () => sheet().frames.length - 1;
  let step = model.get("step"), clock = 0;

  const play = make("button", { type: "button", onclick: () => (clock ? stop() : start()) }, "Play");
  const back = make("button", { type: "button", "aria-label": "step back", onclick: () => go(step - 1) }, "◀");
  const on = make("button", { type: "button", "aria-label": "step forward", onclick: () => go(step + 1) }, "▶");
  const steps = slider("step", { min: 0, max: last(), value: step }, (s) => `${s} of ${last()}`, (s) => go(s));
  const chosen = choices.map(({ name, stops }, number) =>
    slider(name, { min: 0, max: stops.length - 1, value: at[number] }, (stop) => stops[stop], (value) => {
      stop();
      at[number] = value;
      go(Math.min(step, 0));
    }));

  function go(to) {
    step = Math.max(0, Math.min(last(), to));
    picture.innerHTML = sheet().frames[step];
    told.textContent = sheet().captions[step];
    steps.input.max = last();
    steps.set(step);
    back.disabled = step === 0;
    on.disabled = step === last();
    more(at, picture);
  }
  function stop() {
    clearInterval(clock);
    clock = 0;
    play.textContent = "Play";
  }
  function start() {
    if (step >= last()) go(0);
    play.textContent = "Pause";
    clock = setInterval(() => (step >= last() ? stop() : go(step + 1)), model.get("pause"));
  }

  const moving = sheets.some(({ frames }) => frames.length > 1) ? [back, on, play, steps.node] : [];
  const bar = [...moving, ...chosen.map(({ node }) => node)];
  if (bar.length) root.append(make("div", { class: "ls-bar" }, ...bar));
  root.append(picture, told);
  go(step);
  return stop;
}
