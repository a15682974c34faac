import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { initPrompt, runInit } from '../../people/init/init-turn.ts'
import { UsageError } from '../../core/io.ts'
import { enabledAgents, atDesk, noAgentWords } from '../../settings/enabled-agents.ts'

export function initCommand(controls: DeskControls): Command {
  return {
    name: 'init',
    help: 'Let an agent write AGENTS.md; asks first.',
    matters: true,
    async run() {
      const { settings } = controls.app()
      if (enabledAgents(settings).length === 0) throw new UsageError(noAgentWords(settings, atDesk))
      await controls.begin(initPrompt, runInit)
    },
  }
}
