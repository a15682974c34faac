import type { Told } from '../../mind/supervise/telling.ts'
import type { Notice } from '../../core/talk/notice.ts'
import { momentFrom } from '../../base/moment.ts'
import { taskIdOf } from '../../hub/task-rules.ts'
import { shortId } from '../../app/hub/hub-client.ts'
import { oneLine } from '../../base/table.ts'

const came = { began: 'started', resumed: 'started again on its own session', there: 'was at work, and is taken up' }
const task = (ticket: string) => `task ${shortId(taskIdOf(ticket))}`
const longest = 160

/** What happens to an agent, as a person is told it. */
export function toldWords(told: Told, now: number): string {
  switch (told.type) {
    case 'started':
      return came[told.came]
    case 'working':
      return told.ticket === undefined ? 'at its workflow' : `at ${task(told.ticket)}`
    case 'waiting':
      return 'waits for a task'
    case 'asking':
      return `asks: ${oneLine(told.question.text, longest)}`
    case 'blocked':
      return `${task(told.ticket)} needs an answer: ${oneLine(told.question, longest)}`
    case 'nudged':
      return `told to go on: ${oneLine(told.why, longest)}`
    case 'parked':
      return `out of quota until ${momentFrom(now, told.until)}: ${oneLine(told.why, longest)}`
    case 'restarting':
      return `${oneLine(told.why, longest)}; started again in ${Math.ceil(told.in / 1000)} s`
    case 'done':
      return `${task(told.ticket)} ${told.ok ? 'is done' : 'failed'}: ${oneLine(told.message, longest)}`
    case 'dropped':
      return `${task(told.ticket)} is dropped: ${oneLine(told.why, longest)}`
    case 'quit':
      return 'was quit'
    case 'gave-up':
      return `given up: ${oneLine(told.why, longest)}`
    case 'evicted':
      return `sent away by the hub: ${oneLine(told.why, longest)}`
    case 'left':
      return 'let go of'
  }
}

/** What of it a person elsewhere should know. */
export function noticeOf(told: Told, now: number): Pick<Notice, 'event' | 'text' | 'task'> | undefined {
  const ticket = 'ticket' in told && told.ticket !== undefined ? { task: taskIdOf(told.ticket) } : {}
  switch (told.type) {
    case 'asking':
    case 'blocked':
    case 'done':
    case 'parked':
    case 'gave-up':
      return { event: told.type, text: toldWords(told, now), ...ticket }
    default:
      return undefined
  }
}
