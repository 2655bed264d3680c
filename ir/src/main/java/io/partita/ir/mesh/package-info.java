/**
 * Device meshes, and how a tensor lies on one: layouts, their text form, scattering, assembling.
 */
package io.partita.ir.mesh;
