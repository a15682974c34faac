import type { AppRecords } from './app.ts'
import type { TurnObserver } from './turn-traces.ts'
import { occasionOf } from '../core/talk/notice.ts'

/** Sends what an agent reports during a turn to the notifiers of the person; undefined if the settings name none. */
export function noticeObserver({ io, settings, border, place, session }: AppRecords): TurnObserver | undefined {
  if (settings.notify.length === 0) return undefined
  const sent: Promise<void>[] = []
  const mask = border.toward('notice')
  const opened = Promise.all([import('../hub/client/notify.ts'), import('../hub/client/page-link.ts')]).then(
    ([{ openNotify }, { pageAddress, sessionView }]) => {
      const warn = (words: string) => {
        io.err.write(`termaite: ${words}\n`)
      }
      const page = () => pageAddress(io, settings, place.home)
      const notify = openNotify(settings, { io, cwd: place.root, mask, warn, page })
      return (notice: Parameters<typeof notify>[0]) => notify({ ...notice, view: sessionView(session.id) })
    },
  )
  return {
    see(event) {
      // A report that one agent sent to another is for that agent alone.
      if (event.type !== 'notification' || event.from) return
      const notice = {
        event: occasionOf[event.status],
        agent: event.by ?? 'an agent',
        workspace: place.root,
        text: event.text,
      }
      sent.push(opened.then((notify) => notify(notice)))
    },
    async end() {
      // A process without a screen ends with its turn, so it waits until its notices are sent.
      await Promise.allSettled(sent)
    },
  }
}
