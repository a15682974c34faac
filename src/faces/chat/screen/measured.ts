import type { Component } from '@earendil-works/pi-tui'
import { Container } from '@earendil-works/pi-tui'

/** A place for one component, that knows how many rows it took when it was last painted. */
export class Measured extends Container {
  height = 0

  constructor(...children: Component[]) {
    super()
    for (const child of children) this.addChild(child)
  }

  override render(width: number): string[] {
    const lines = super.render(width)
    this.height = lines.length
    return lines
  }
}
