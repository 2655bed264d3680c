/* Measured figures beside the predicted ones. */
function measured() {
  if (!data.prediction) return;
  const host = section('measured', 'Predicted and measured', data.run ? 'The last run with --profile or --json, on ' + data.run.port + ', which counts ' + data.run.clock + '.' : null);
  if (!data.run) {
    const command = 'partita run ' + quoted(data.folder || 'DIR') + ' --inputs in.npz --outputs out.npz --profile --on gvsoc';
    host.append(el('p', { class: 'muted' }, 'The program has not been run with --profile. The simulator GVSoC counts the cycles of the chips:'), el('div', { class: 'command' }, el('code', {}, command)),
      el('p', { class: 'muted' }, 'Then write this report again.'));
    return;
  }
  const run = data.run;
  const comparable = run.clock === 'cycles';
  const error = (found, wanted) => (comparable && found ? el('span', { class: Math.abs(wanted / found - 1) > 0.15 ? 'bad' : 'good' }, (wanted >= found ? '+' : '') + (100 * (wanted / found - 1)).toFixed(1) + ' %') : '');
  host.append(table('Chips', [['Device', false], ['Measured ' + run.clock, true], ['Predicted cycles', true], ['Error', true], ['Waiting for L3', true], ['Predicted', true], ['Sent', true], ['Predicted', true]],
    run.chips.map(chip => ['device ' + chip.chip, figure(chip.measured.cycles, whole, 'measured.' + chip.chip), figure(chip.predicted.cycles, whole, 'predicted.' + chip.chip), error(chip.measured.cycles, chip.predicted.cycles),
      chip.measured.l3_wait_cycles === undefined ? '' : whole(chip.measured.l3_wait_cycles), whole(chip.predicted.l3_wait_cycles), bytes(chip.measured.sent), bytes(chip.predicted.sent)]),
    ['the run', figure(run.measured.cycles, whole, 'measured'), figure(run.predicted.cycles, whole, 'predicted'), error(run.measured.cycles, run.predicted.cycles), '', '', '', '']));
  if (run.measured.joules !== undefined) host.append(el('p', {}, 'Energy by the measured time and bytes: ', el('b', {}, figure(run.measured.joules, joules, 'measuredJoules')), '; predicted: ', el('b', {}, joules(run.predicted.joules))));
  const profiled = run.chips.filter(chip => chip.steps);
  if (!profiled.length) return;
  const slowest = profiled.reduce((a, b) => (a.measured.cycles >= b.measured.cycles ? a : b));
  const steps = slowest.steps.slice().sort((a, b) => b.measured.cycles - a.measured.cycles);
  const points = slowest.steps.filter(step => step.measured.cycles > 0 && step.predicted.cycles > 0);
  if (points.length) {
    host.append(el('h3', {}, 'Steps of device ' + slowest.chip));
    chart(host, 330, 'Measured against predicted ' + run.clock + ' of the steps of device ' + slowest.chip, () => stepOptions(points, run.clock), made => hover(made, item => item.data && item.data.lines));
  }
  host.append(table('Slowest steps', [['Step', true], ['What', false, 'name'], ['Measured', true], ['Predicted', true], ['Error', true]],
    steps.slice(0, 25).map(step => [step.step, step.kind + (step.call ? ' ' + step.call : '') + (step.node ? ': ' + step.node : ''), whole(step.measured.cycles), whole(step.predicted.cycles), error(step.measured.cycles, step.predicted.cycles)])));
}
function stepOptions(points, clock) {
  const all = points.flatMap(step => [step.measured.cycles, step.predicted.cycles]);
  const low = Math.min(...all) / 1.5;
  const high = Math.max(...all) * 1.5;
  const axis = (name, gap) => ({ type: 'log', name, nameLocation: 'middle', nameGap: gap, min: low, max: high, ...axisStyle(), axisLabel: { color: colour('soft'), fontSize: 11, hideOverlap: true, formatter: value => whole(value) } });
  return { grid: { left: 86, right: 18, top: 14, bottom: 46 }, xAxis: axis('predicted cycles', 26), yAxis: axis('measured ' + clock, 66), series: [
    { type: 'line', data: [[low, low], [high, high]], symbol: 'none', silent: true, lineStyle: { color: colour('soft'), type: 'dashed', width: 1 } },
    { type: 'scatter', symbolSize: 7, data: points.map(step => ({ value: [step.predicted.cycles, step.measured.cycles], itemStyle: { color: colour((STEP[step.kind] || ['io'])[0]), opacity: 0.75 },
      lines: ['step ' + step.step + ': ' + step.kind + (step.call ? ' ' + step.call : ''), step.node, 'measured ' + whole(step.measured.cycles), 'predicted ' + whole(step.predicted.cycles)] })) }] };
}
