/** Values, nodes, graphs and modules. */
package io.partita.ir.graph;
