/** The element types in which a model is stored and computed. */
package io.partita.passes.graph.element;
