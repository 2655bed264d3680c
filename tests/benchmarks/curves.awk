# Draws the metric against the share of dropped syncs as SVG, a panel for each number of devices, the metric on a logarithmic axis.
# Reads lines of tests/benchmarks/syncs: devices, dropped blocks, blocks, and the metric in each order of blocks, or -.

function x(panel, share) { return 50 + panel * 240 + 190 * share }
function y(value) { return 30 + 200 * (log(top) - log(value)) / (log(top) - log(bottom)) }
function text(at, height, anchor, what) {
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, height, anchor, what
}

NR == 1 { top = bottom = $4 }
{
  if (!($1 in panels)) { panels[$1] = count; places[count++] = $1 }
  for (order = 0; order < 3; order++) {
    value = $(4 + order)
    if (value == "-") continue
    if (value > top) top = value
    if (value < bottom) bottom = value
    points[$1, order] = points[$1, order] sprintf("%.1f %.4f;", 100 * $2 / $3, value)
  }
}

END {
  split("ranked|ranked, heads scattered|first to last", names, "|")
  split("#1b6ca8|#d1495b|#8a8a8a", colours, "|")
  split("|6 3|2 2", dashes, "|")
  bottom /= 1.03
  top *= 1.03
  split("50|150|330", legend, "|")
  width = count < 3 ? 560 : 60 + 240 * count
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d 300\" font-family=\"sans-serif\" font-size=\"11\">\n", width
  printf "<rect width=\"%d\" height=\"300\" fill=\"white\"/>\n", width
  text(50, 14, "start", title ": perplexity by the share of blocks whose sync after attention is dropped")
  for (panel = 0; panel < count; panel++) {
    devices = places[panel]
    text(x(panel, 0.5), 28, "middle", devices " devices")
    printf "<path d=\"M%.1f 30V230H%.1f\" fill=\"none\" stroke=\"black\"/>\n", x(panel, 0), x(panel, 1)
    for (share = 0; share <= 4; share++) text(x(panel, share / 4), 244, "middle", 25 * share " %")
    for (step = 0; step <= 4; step++) {
      value = bottom * exp((log(top) - log(bottom)) * step / 4)
      printf "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#dddddd\"/>\n", x(panel, 0), y(value), x(panel, 1)
      if (panel == 0) text(45, y(value) + 4, "end", sprintf("%.3g", value))
    }
    for (order = 2; order >= 0; order--) {
      if (points[devices, order] == "") continue
      number = split(points[devices, order], all, ";") - 1
      line = ""
      for (i = 1; i <= number; i++) {
        split(all[i], point, " ")
        line = line sprintf("%.1f,%.1f ", x(panel, point[1] / 100), y(point[2]))
      }
      printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"%s\"/>\n", line,
        colours[order + 1], dashes[order + 1]
    }
  }
  for (order = 0; order < 3; order++) {
    at = legend[order + 1]
    printf "<path d=\"M%d 270h24\" stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"%s\"/>\n", at, colours[order + 1],
      dashes[order + 1]
    text(at + 30, 274, "start", names[order + 1])
  }
  print "</svg>"
}
