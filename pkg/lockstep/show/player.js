// Python has drawn every state ahead. Sliders choose a sheet; on a sheet of several steps the controls choose one.

const LONGEST = 20_000;  // milliseconds that a whole run plays, where there are many steps

/** Draws into root. `more(at, picture)` is told of each new drawing, with the sliders' stops. Gives back what stops it. */
function player({ model, root, more = () => {} }) {
  const sheets = model.get("sheets"), choices = model.get("sliders");
  const picture = make("div", { class: "ls-picture" }), told = make("div", { class: "ls-unseen", "aria-live": "polite" });
  const at = choices.map((choice) => choice.at);
  const sheet = () => sheets[choices.reduce((index, { stops }, number) => index * stops.length + at[number], 0)];
  const last = () => sheet().captions.length - 1;
  let drawn = null;

  function draw(step, isNext) {
    const { frames, captions, moments } = sheet(), frame = frames[Math.min(step, frames.length - 1)];
    if (frame !== drawn) picture.innerHTML = drawn = frame;
    if (moments.length) setClock(picture, step === last() ? null : moments[step]);
    picture.classList.toggle("ls-stepped", isNext);
    told.textContent = captions[step];
    more(at, picture);
  }
  const control = controls({
    name: model.get("unit"), pause: () => Math.max(120, Math.min(model.get("pause"), LONGEST / last())), at: model.get("step"), last,
    told: (step) => `${step} of ${last()}`, draw,
  });
  const chosen = choices.map(({ name, stops }, number) =>
    slider(name, { min: 0, max: stops.length - 1, value: at[number] }, (stop) => stops[stop], (value) => {
      control.stop();
      at[number] = value;
      control.go(sheet().moments.length ? last() : 0);
    }));

  const moves = sheets.some(({ captions }) => captions.length > 1);
  const bar = [...(moves ? control.nodes : []), ...chosen.filter((_, n) => choices[n].stops.length > 1).map(({ node }) => node)];
  if (bar.length) root.append(make("div", { class: "ls-bar" }, ...bar));
  if (moves) control.listen(picture, model.get("label"));
  root.append(picture, told);
  control.go(model.get("step"));
  return control.stop;
}
