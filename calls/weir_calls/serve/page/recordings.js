// The recorded videos of calls: synchronized if there are two, and marked during freezes.
import { element, seconds } from "./dom.js";

// Smaller differences between players are not noticeable, in seconds.
const APART = 0.15;

// A player with a mark; call.freezes are pairs of start and duration in seconds.
export function recording(call, src) {
  const video = element("video", { controls: true, playsinline: true, preload: "metadata", "aria-label": "The received video", src });
  const mark = element("figcaption", { hidden: true });
  const figure = element("figure", {}, video, mark);
  const show = () => {
    const now = video.currentTime;
    const freeze = call.freezes.find(([start, duration]) => now >= start && now < start + duration);
    mark.hidden = !freeze;
    mark.textContent = freeze ? `frozen for ${freeze[1] < 1 ? `${Math.round(freeze[1] * 1000)} ms` : seconds(freeze[1])}` : "";
    figure.classList.toggle("frozen", Boolean(freeze));
  };
  for (const event of ["timeupdate", "seeking", "seeked"]) video.addEventListener(event, show);
  return figure;
}

// Applies every action on one player to all. The first one's time is the reference while they play.
export function keepInStep(videos) {
  for (const one of videos) {
    const others = videos.filter((other) => other !== one);
    const align = () => others.forEach((other) => {
      if (Math.abs(other.currentTime - one.currentTime) > APART) other.currentTime = one.currentTime;
    });
    one.addEventListener("seeking", align);
    if (one === videos[0]) one.addEventListener("timeupdate", align);
    one.addEventListener("play", () => { align(); others.forEach((other) => other.paused && other.play().catch(() => {})); });
    one.addEventListener("pause", () => { if (!one.ended) others.forEach((other) => other.pause()); });
    one.addEventListener("ratechange", () => others.forEach((other) => { other.playbackRate = one.playbackRate; }));
  }
}
