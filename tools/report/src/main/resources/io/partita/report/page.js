/* Puts the page together; the theme follows the system until it is chosen. */
const THEMES = ['system', 'light', 'dark'];
const dark = matchMedia('(prefers-color-scheme: dark)');
let theme = THEMES.find(name => '#theme=' + name === location.hash) || 'system';
function paint() {
  const isDark = theme === 'dark' || (theme === 'system' && dark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  document.getElementById('theme').textContent = 'Theme: ' + theme;
  charts.forEach(each => each.draw());
}
document.getElementById('theme').addEventListener('click', () => { theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]; paint(); });
dark.addEventListener('change', paint);
paint();
for (const part of [overview, partition, timeline, memory, syncs, roofline, energy, measured]) part();
document.getElementById('footer').append(data.version + (data.folder ? ' · ' + data.folder : '') + ' · charts by Apache ECharts ' + echarts.version);
let resizing = 0;
addEventListener('resize', () => { cancelAnimationFrame(resizing); resizing = requestAnimationFrame(() => charts.forEach(each => each.resize())); });
addEventListener('keydown', event => { if (event.key === 'Escape') hideTip(); });
document.documentElement.dataset.ready = 'true';
/* Milliseconds from opening the page until all is drawn. */
document.documentElement.dataset.drawn = Math.round(performance.now());
