import type { SaidHow } from '../core/talk/command.ts'
import type { DeskEvent, DeskEvents } from '../chat/desk/chat-desk.ts'
import { Channel } from '../base/channel.ts'
import { withoutPictureLinks } from '../core/talk/pictures.ts'

/** The screens that show this desk. Each gets every event in order; a screen that has left delays nothing. */
export class Audience {
  #ears = new Set<Channel<DeskEvent>>()
  #sent = 0

  /** Resolves when every screen can take more, so that a turn runs no faster than it can be shown; never rejects. */
  async tell(happening: DeskEvent): Promise<void> {
    await Promise.all([...this.#ears].map((ear) => ear.push(happening)))
  }

  /** Shows a message on every screen without waiting, because a slow screen must not delay the caller. */
  say(text: string, how: SaidHow = 'note'): void {
    void this.tell({ type: 'said', how, text })
  }

  /** Shows a prompt at once, before it is stored. Returns the id by which it is replaced or removed. */
  send(text: string, starts?: 'turn' | 'command'): string {
    const sent = `sent ${++this.#sent}`
    void this.tell({ type: 'sent', sent, text: withoutPictureLinks(text), ...(starts ? { starts } : {}) })
    return sent
  }

  /** Removes a prompt from the screens that was shown early and then kept by no turn of this desk. */
  unsend(sent: string): void {
    void this.tell({ type: 'sent', sent })
  }

  /** Events are collected from this call on, not from the first read. */
  listen(signal: AbortSignal): DeskEvents {
    const ear = new Channel<DeskEvent>(1024)
    const leave = () => {
      this.#ears.delete(ear)
      ear.close()
    }
    this.#ears.add(ear)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    return ear
  }

  close(): void {
    for (const ear of this.#ears) ear.close()
  }
}
