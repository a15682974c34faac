/** The exit codes of termaite, by their meaning. */
export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  incomplete: 3,
  later: 75,
  refused: 77,
  interrupted: 130,
  ended: 143,
} as const

/** The meaning of an exit code, worded for the help and for the reference. */
type ExitMeaning = { brief: string; means: string }

export const exitMeanings: Record<keyof typeof exit, ExitMeaning> = {
  done: { brief: 'done', means: 'Done.' },
  failed: {
    brief: 'failed',
    means:
      'The turn failed, and every attempt is named on stderr; or the command did. `doctor`: no agent works. `review`: a finding is of severity high. `race`: no result is right. `audit verify`: somebody changed the record.',
  },
  usage: { brief: 'bad usage', means: 'Bad usage or bad settings. The message says what is allowed.' },
  incomplete: { brief: 'entries missing', means: '`audit verify`: entries of the record are missing.' },
  later: {
    brief: 'try later',
    means:
      'Every enabled agent is out of quota, busy or cooling down, and stderr says when the first one returns. `crew wait`: the time is over, and the agent still works. `crew artifact`: the agent has not answered its last prompt yet.',
  },
  refused: {
    brief: 'refused',
    means: 'The agent was refused what it needed; `denials` in JSON names the tools.',
  },
  interrupted: {
    brief: 'interrupted',
    means: 'Interrupted by Ctrl+C. The chat: leaving it cancelled a turn.',
  },
  ended: { brief: 'stopped by SIGTERM', means: 'Stopped by SIGTERM.' },
}
