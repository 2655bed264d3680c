/* The lanes of the timeline: for each device its cores and channels, then the links; times are in seconds. */
const STEP = { loop: ['compute', 'compute'], begin: ['exchange', 'an exchange with other devices begins'],
  exchange: ['exchange', 'exchange with other devices'], wait: ['wait', 'waiting for L3'], rows: ['l3', 'fetching rows from L3'],
  guard: ['io', 'testing a guard'], fetch: ['l3', 'starting a fetch from L3'], spill: ['l3', 'starting a write to L3'], clear: ['l1', 'clearing memory'],
  preload: ['l1', 'starting a copy to L1'], await: ['l1', 'waiting for a copy to L1'] };
const COMPUTES = kind => kind === 'loop' || kind === 'compute';

function kernelsOf(role) {
  return new Map((report.schedule ? report.schedule.roles[role].kernels : []).map(kernel => [kernel.name, kernel]));
}
const knownSteps = new Map();
/* The steps of a chip with their times, from the prediction. */
function chipSteps(number) {
  if (!knownSteps.has(number)) knownSteps.set(number, stepsOf(number));
  return knownSteps.get(number);
}
function stepsOf(number) {
  const chip = data.prediction.chips[number];
  const role = data.prediction.roles[chip.role];
  const hertz = role.energy.hertz;
  let at = 0;
  return chip.steps.map(([cycles, compute, near, far, sent, received], i) => {
    const label = role.steps[i];
    const step = { ...label, number: i, start: at / hertz, seconds: cycles / hertz, compute: compute / hertz, cycles, near, far, sent, received };
    at += cycles;
    return step;
  });
}
/* Lanes with their items: {name, kind, device, height, items: [{start, seconds, share, colour, lines}]}. */
function lanesOf(device) {
  const lanes = [];
  if (data.prediction) {
    const steps = chipSteps(device);
    const kernels = kernelsOf(data.prediction.chips[device].role);
    lanes.push({ name: 'compute', kind: 'compute', device, height: 20, items: steps.filter(step => step.seconds > 0).map(step => stepItem(step, device)) });
    lanes.push({ name: 'DMA', kind: homeName(), device, height: 11, items: steps.filter(step => step.kind === 'loop' && kernels.has(step.call)).map(step => {
      const kernel = kernels.get(step.call);
      const share = Math.min(1, (kernel.loadCycles + kernel.storeCycles) / Math.max(1, step.cycles));
      return { start: step.start, seconds: step.seconds, share, colour: 'l1', lines: ['L2 and L1: ' + bytes(step.near), 'busy ' + percent(share) + ' of ' + seconds(step.seconds), step.node] };
    }) });
  }
  return lanes.concat(spanLanes(resource => resource.device === device));
}
const homeName = () => (report.schedule ? report.schedule.roles[0].memories[1].name : '');
function linkLanes() { return spanLanes(resource => resource.kind === 'links'); }
function spanLanes(isWanted) {
  const timeline = report.timeline;
  const lanes = new Map();
  timeline.resources.forEach((resource, i) => {
    const known = data.prediction && (resource.kind === 'compute' || resource.kind === homeName());
    if (isWanted(resource) && !known) {
      const short = resource.kind === 'links' ? resource.name : resource.name.replace(/^device \d+ /, '');
      lanes.set(i, { name: resource.kind === 'compute' ? 'compute' : short, kind: resource.kind, device: resource.device, height: resource.kind === 'compute' ? 20 : 11, items: [] });
    }
  });
  for (const [number, start, length, busy, moved, label] of timeline.spans) {
    const lane = lanes.get(number);
    if (!lane) continue;
    const share = length ? busy / length : 1;
    lane.items.push({ start: start / 1e9, seconds: length / 1e9, share, colour: KINDS[lane.kind] || 'l3',
      lines: [timeline.labels[label] || lane.name, seconds(length / 1e9) + ' from ' + seconds(start / 1e9), moved ? bytes(moved) : '', share < 0.995 ? 'busy ' + percent(share) : ''].filter(Boolean) });
  }
  return [...lanes.values()].filter(lane => lane.items.length).sort((a, b) => (b.kind === 'compute') - (a.kind === 'compute'));
}
function stepItem(step, device) {
  const [shade, what] = STEP[step.kind];
  const share = step.kind === 'loop' ? Math.min(1, step.compute / step.seconds) : 1;
  const part = step.block === undefined ? '' : ' · block ' + step.block + (step.role ? ' ' + step.role : '');
  return { start: step.start, seconds: step.seconds, share, colour: shade, step, device,
    lines: ['step ' + step.number + ': ' + (step.kind === 'loop' ? step.call : what), step.node + part, seconds(step.seconds) + ' (' + whole(step.cycles) + ' cycles) from ' + seconds(step.start),
      step.kind === 'loop' ? 'kernels run ' + percent(share) + ' of it' : '',
      [step.near && 'L2–L1 ' + bytes(step.near), step.far && 'L3–L2 ' + bytes(step.far), step.sent && 'sent ' + bytes(step.sent), step.received && 'received ' + bytes(step.received)].filter(Boolean).join(', ')].filter(Boolean) };
}
/* The longest times in which cores of a device don't compute. */
function gapsOf(device) {
  const gaps = [];
  let gap = null;
  const add = (start, end, reason, time) => {
    if (end - start <= 0) return;
    if (gap && Math.abs(gap.end - start) < 1e-12 + 1e-9 * end) gap.end = end; else gaps.push(gap = { device, start, end, reasons: new Map() });
    gap.reasons.set(reason, (gap.reasons.get(reason) || 0) + time);
  };
  if (data.prediction) {
    for (const step of chipSteps(device)) {
      if (step.kind !== 'loop') add(step.start, step.start + step.seconds, STEP[step.kind][1] + (step.node ? ': ' + step.node : ''), step.seconds);
    }
  } else {
    const lane = lanesOf(device).find(each => each.kind === 'compute');
    let end = 0;
    for (const item of lane ? lane.items : []) { add(end, item.start, 'waiting before ' + item.lines[0], item.start - end); end = Math.max(end, item.start + item.seconds); gap = null; }
    add(end, plan.seconds, 'idle until the end', plan.seconds - end);
  }
  return gaps;
}
