// One button opens all that waits on a page, and closes it again. With #open in the address it is open from the start.
for (const button of document.querySelectorAll(".ls-open-all")) {
  const held = () => document.querySelectorAll("details.ls-held");
  const set = (open) => {
    for (const each of held()) each.open = open;
    button.textContent = open ? "Close what waits" : "Open all that waits";
    button.setAttribute("aria-pressed", String(open));
  };
  button.hidden = held().length === 0;
  button.addEventListener("click", () => set(button.getAttribute("aria-pressed") !== "true"));
  set(location.hash === "#open");
}
// What prints, prints all of it.
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details.ls-held")) each.open = true;
});
