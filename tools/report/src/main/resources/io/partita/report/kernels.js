/* Kernels against the limits of the chip, and where the energy goes. */
function roofline() {
  if (!report.schedule || !data.prediction) return;
  const host = section('roofline', 'Roofline of the kernels',
    'Each point is a loop over tiles: its work for each byte between ' + homeName().toUpperCase() + ' and L1, and the speed that it reaches. The sloped line is the speed of the transfers; a kernel can’t be faster than its own rate in L1 either.');
  const points = kernelPoints();
  const chip = report.schedule.roles[0].chip;
  const channel = chip.channels.find(each => each.name.includes(report.schedule.roles[0].memories[0].name)) || chip.channels[0];
  const units = ['MAC', 'element'].filter(unit => points.some(point => point.unit === unit));
  const box = el('div', { class: 'grid2' });
  host.append(box);
  for (const unit of units) {
    const own = points.filter(point => point.unit === unit && point.intensity > 0);
    if (!own.length) continue;
    const peak = Math.max(...own.map(point => point.rate || point.speed));
    const panel = el('div', {}, el('h3', { style: { margin: '0' } }, unit === 'MAC' ? 'Multiply-accumulates' : 'Elements'));
    box.append(panel);
    chart(panel, 330, 'Roofline of kernels that count ' + unit + 's; the table below has the figures', () => roofOptions(own, channel.bytesPerCycle, peak, unit),
      made => hover(made, item => item.data && item.data.lines));
  }
  host.append(legend([['var(--compute)', 'limited by computing'], ['var(--l3)', 'by moving'], ['var(--io)', 'by both in turn, or by starting'], ['var(--soft)', 'the chip’s limit']]));
  const rows = points.sort((a, b) => b.total - a.total).slice(0, 60).map(point => [el('code', {}, point.name), point.runs, seconds(point.total), percent(point.share), point.intensity.toFixed(2), point.speed.toFixed(2), point.rate ? percent(point.speed / point.rate) : '', point.limit]);
  host.append(table('Kernels', [['Loop', false, 'name'], ['Runs on device 0', true], ['Time', true], ['of its run', true], ['Work / byte', true], ['Work / cycle', true], ['of its rate', true], ['Limited by', false]], rows));
  blocksOfCores(host, points);
}
/* How cores with private memories compute results in blocks of pages of 32 x 32 elements. */
function blocksOfCores(host, points) {
  const by = pair => pair.join(' × ');
  const rows = points.filter(point => point.blocks).slice(0, 60).map(({ name, blocks: own }) => [el('code', {}, name), by(own.cores), by(own.pages), by(own.block),
    own.depth ? whole(own.depth) : '', own.subblock ? by(own.subblock) : '', own.multicast.join(', ')]);
  if (rows.length) host.append(table('Blocks on cores, in pages', [['Loop', false, 'name'], ['Cores', false], ['Result', false], ['Block', false], ['Depth', true], ['In registers', false], ['Multicast', false]], rows));
}
/* The kernels of device 0 with the time that they take there. */
function kernelPoints() {
  const steps = chipSteps(0).filter(step => step.kind === 'loop');
  const all = steps.reduce((sum, step) => sum + step.seconds, 0);
  const uses = new Map();
  for (const step of steps) {
    const use = uses.get(step.call) || { runs: 0, total: 0, cycles: 0 };
    use.runs++; use.total += step.seconds; use.cycles += step.cycles;
    uses.set(step.call, use);
  }
  return [...kernelsOf(data.prediction.chips[0].role).values()].filter(kernel => uses.has(kernel.name)).map(kernel => {
    const use = uses.get(kernel.name);
    const main = kernel.calls.reduce((a, b) => (b.unit === a.unit ? (b.work > a.work ? b : a) : b.unit === 'MAC' ? b : a));
    const moved = kernel.loadedBytes + kernel.storedBytes;
    const cycles = use.cycles / use.runs;
    const dma = kernel.loadCycles + kernel.storeCycles;
    const limit = kernel.computeCycles >= 0.75 * cycles ? 'computing' : dma >= 0.75 * cycles ? 'moving' : kernel.computeCycles + dma >= 0.75 * cycles ? 'both in turn' : 'starting';
    return { name: kernel.name, unit: main.unit, work: main.work, rate: main.rate, intensity: moved ? main.work / moved : 0, speed: main.work / cycles, runs: use.runs, total: use.total, share: use.total / all, limit, kind: main.class, blocks: kernel.blocks,
      lines: [kernel.name, main.class + ' by ' + main.function, (main.work / cycles).toFixed(2) + ' ' + main.unit + 's a cycle' + (main.rate ? ', rate ' + main.rate : ''), (moved ? main.work / moved : 0).toFixed(2) + ' for each byte', seconds(use.total) + ' in ' + plural(use.runs, 'run') + ', limited by ' + limit] };
  });
}
function roofOptions(points, bandwidth, peak, unit) {
  const low = Math.min(...points.map(point => point.intensity), peak / bandwidth) / 3;
  const high = Math.max(...points.map(point => point.intensity), peak / bandwidth) * 3;
  const slow = Math.min(...points.map(point => point.speed)) / 2;
  const roof = [[low, Math.max(slow, low * bandwidth)], [peak / bandwidth, peak], [high, peak]];
  const axis = name => ({ type: 'log', name, nameLocation: 'middle', ...axisStyle(), axisLabel: { color: colour('soft'), fontSize: 11, hideOverlap: true, formatter: value => (value >= 1 ? whole(value) : value.toPrecision(1)) } });
  return {
    grid: { left: 62, right: 18, top: 16, bottom: 46 },
    xAxis: { ...axis(unit + 's / byte'), nameGap: 26, min: low, max: high },
    yAxis: { ...axis(unit + 's / cycle'), nameGap: 42, min: slow, max: peak * 2 },
    series: [
      { type: 'line', data: roof, symbol: 'none', silent: true, lineStyle: { color: colour('soft'), width: 1.5 } },
      { type: 'scatter', symbolSize: (value, item) => 7 + 26 * Math.sqrt(item.data.share), itemStyle: { color: colour('compute'), opacity: 0.75, borderColor: colour('panel') },
        data: points.map(point => ({ value: [point.intensity, point.speed], share: point.share, lines: point.lines, itemStyle: { color: colour(point.limit === 'computing' ? 'compute' : point.limit === 'moving' ? 'l3' : 'io') } })) }],
  };
}
function energy() {
  if (!timed || !plan.joules) return;
  const host = section('energy', 'Energy', 'Cores while kernels run, bytes between memories and bytes over links.');
  const parts = Object.entries(plan.energy).filter(part => part[1] > 0).sort((a, b) => b[1] - a[1]);
  host.append(el('div', { class: 'bar', role: 'img', 'aria-label': parts.map(([name, value]) => name + ' ' + joules(value)).join(', ') },
    parts.map(([name, value]) => el('span', { style: { flex: value / plan.joules, background: kindColour(name) } }))),
  legend(parts.map(([name, value]) => [kindColour(name), name, el('b', {}, figure(value, joules, 'energy.' + name), ' · ' + percent(value / plan.joules))])));
  const most = Math.max(...plan.devices.map(device => device.joules));
  host.append(el('details', {}, el('summary', {}, 'Energy of each device'), table('Energy of devices', [['Device', false], ['', false], ['Energy', true], ['Moved', false]], plan.devices.map(device => ['device ' + device.device,
    el('div', { class: 'bar thin', style: { 'min-width': '10rem', margin: '.42rem 0' } }, el('span', { style: { width: 100 * device.joules / most + '%', background: 'var(--compute)' } })), joules(device.joules),
    Object.entries(device.bytes).map(([name, count]) => name + ' ' + bytes(count)).join(', ')]))));
}
