// Zooming and moving the graphs. The page is complete without this script; pictures then show as they are.
"use strict";
for (const panel of document.querySelectorAll(".graph")) {
  const svg = panel.querySelector("svg");
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  const changed = [...svg.querySelectorAll(".n.c")];
  let view = whole.slice(), next = 0;

  const show = () => svg.setAttribute("viewBox", view.join(" "));
  const place = event => {
    const box = svg.getBoundingClientRect(), scale = Math.max(view[2] / box.width, view[3] / box.height);
    return {
      x: view[0] + view[2] / 2 + (event.clientX - box.left - box.width / 2) * scale,
      y: view[1] + view[3] / 2 + (event.clientY - box.top - box.height / 2) * scale,
      scale,
    };
  };
  const zoom = (factor, x, y) => {
    const size = Math.min(Math.max(view[2] * factor, 60), 4 * Math.max(whole[2], whole[3]));
    factor = size / view[2];
    view = [x - (x - view[0]) * factor, y - (y - view[1]) * factor, size, view[3] * factor];
    show();
  };
  const zoom_middle = factor => zoom(factor, view[0] + view[2] / 2, view[1] + view[3] / 2);
  const look_at = (x, y, width) => {
    const box = svg.getBoundingClientRect(), height = width * (box.height || 1) / (box.width || 1);
    view = [x - width / 2, y - height / 2, width, height];
    show();
  };
  const see_next_change = () => {
    if (!changed.length)
      return;
    changed.forEach(node => node.classList.remove("here"));
    const node = changed[next++ % changed.length], box = node.querySelector("rect.b");
    const at = node.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
    node.classList.add("here");
    look_at(at[0] + box.getAttribute("width") / 2, at[1] + box.getAttribute("height") / 2, 900);
  };
  const actions = {
    in: () => zoom_middle(1 / 1.4),
    out: () => zoom_middle(1.4),
    whole: () => { view = whole.slice(); show(); },
    next: see_next_change,
  };
  for (const button of panel.querySelectorAll("button"))
    button.addEventListener("click", actions[button.dataset.action]);
  svg.addEventListener("wheel", event => {
    const at = place(event);
    event.preventDefault();
    zoom(Math.exp(event.deltaY / 500), at.x, at.y);
  }, { passive: false });
  svg.addEventListener("pointerdown", event => svg.setPointerCapture(event.pointerId));
  svg.addEventListener("pointermove", event => {
    if (!event.buttons)
      return;
    const { scale } = place(event);
    view = [view[0] - event.movementX * scale, view[1] - event.movementY * scale, view[2], view[3]];
    show();
  });
  // A deep graph is a thin line as a whole: it begins at its first change, or at the top.
  if (whole[3] > 3 * whole[2] || whole[2] > 3000) {
    if (changed.length)
      see_next_change();
    else
      look_at(whole[0] + whole[2] / 2, whole[1] + 400, 1000);
    next = 0;
  }
}
document.body.dataset.ready = "yes";
