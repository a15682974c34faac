import type { CommandCode } from '../arguments/cli-command.ts'
import { conversationOf } from '../../turn/app.ts'
import { recordThumb } from '../../turn/judgements.ts'
import { followMove } from '../../turn/moved-project.ts'
import { placeOf } from '../../home/place.ts'
import { openProject, openSession } from '../../home/project.ts'
import { defined } from '../../base/defined.ts'
import { print, voiceOf } from '../../core/io.ts'
import { thumbWords } from '../../core/talk/judgement.ts'
import { fileStore } from '../../store/files/file-store.ts'

/** `termaite good` and `termaite bad`: the person's judgement of the last answer. */
function thumb(good: boolean): CommandCode {
  return {
    async run(io, { values, words }) {
      const place = placeOf(io)
      await followMove(io, place)
      const store = fileStore(place.home, voiceOf(io))
      const project = openProject(store, place.root)
      const name = typeof values.session === 'string' ? values.session : undefined
      const session = await openSession(project, defined({ name, existing: true }), io.clock)
      const blobs = store.blobs(`projects/${project.slug}/output`)
      const why = words.join(' ').trim()
      const last = await recordThumb(conversationOf(io, project, blobs, session), good, why)
      print(io, thumbWords({ good, why: why || undefined }, last))
      return 0
    },
  }
}

export const good = thumb(true)
export const bad = thumb(false)
