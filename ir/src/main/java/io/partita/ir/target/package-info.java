/** Target descriptions: chips, memories, links, and where each figure is from. */
package io.partita.ir.target;
