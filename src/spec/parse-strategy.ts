import { didYouMean } from './did-you-mean.ts';
import { PRESET_NAMES, PRESETS, type PresetName, qualityFlowSchema, zeroShotSchema } from './schema.ts';
import type { QualityFlowOptions, Strategy } from './spec.ts';
import { describeIssues, type SpecProblem, shown } from './spec-problem.ts';

export type ParsedStrategy = { kind: 'strategy'; strategy: Strategy } | { kind: 'problems'; problems: SpecProblem[] };

/**
 * Reads `strategy`: a preset's name, `{ preset, …options }` or `{ kind, …options }`. An option set beside a preset wins over it.
 * The rules between options are those of algorithms 1.6 A, O and P.
 */
export function parseStrategy(raw: unknown): ParsedStrategy {
  const expanded = expandPreset(raw);
  if ('problems' in expanded) return { kind: 'problems', problems: expanded.problems };
  const { fields } = expanded;

  if (fields.kind === 'zero-shot') {
    const parsed = zeroShotSchema.safeParse(fields);
    if (parsed.success) return { kind: 'strategy', strategy: parsed.data };
    const options = Object.keys(fields).filter((key) => key !== 'kind');
    return {
      kind: 'problems',
      problems: options.map((key) => ({
        path: `strategy.${key}`,
        message: 'is not an option here; zero-shot has none',
      })),
    };
  }
  const parsed = qualityFlowSchema.safeParse(fields);
  if (!parsed.success) {
    const keys = ['preset', ...Object.keys(qualityFlowSchema.shape)];
    return {
      kind: 'problems',
      problems: describeIssues({ issues: parsed.error.issues, value: fields, path: ['strategy'], keys }),
    };
  }
  const problems = rulesBetweenOptions(parsed.data);
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'strategy', strategy: parsed.data };
}

function rulesBetweenOptions(options: QualityFlowOptions): SpecProblem[] {
  if (options.checker === 'none' && options.revert) {
    return [
      {
        path: 'strategy.revert',
        message: 'must be false with checker: none, since without a checker nothing is ever rejected',
      },
    ];
  }
  return [];
}

function expandPreset(raw: unknown): { fields: Record<string, unknown> } | { problems: SpecProblem[] } {
  if (raw === undefined)
    return problem(
      'strategy',
      `is missing: it must be one of ${PRESET_NAMES.join(', ')}, or a mapping with kind or preset`,
    );
  if (typeof raw === 'string') {
    return isPreset(raw) ? { fields: { ...PRESETS[raw] } } : problem('strategy', notAPreset(raw));
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return problem(
      'strategy',
      `must be one of ${PRESET_NAMES.join(', ')}, or a mapping with kind or preset, not ${shown(raw)}`,
    );
  }
  const { preset, kind, ...options }: Record<string, unknown> = { ...raw };
  if (preset !== undefined && (typeof preset !== 'string' || !isPreset(preset)))
    return problem('strategy.preset', notAPreset(preset));
  const base: Record<string, unknown> = preset === undefined ? {} : { ...PRESETS[preset] };
  if (preset === undefined && kind === undefined) {
    return problem('strategy.kind', 'is missing: it must be quality-flow or zero-shot (or give a preset)');
  }
  if (kind !== undefined && kind !== 'quality-flow' && kind !== 'zero-shot') {
    const hint = typeof kind === 'string' ? didYouMean(kind, ['quality-flow', 'zero-shot']) : '';
    return problem('strategy.kind', `must be quality-flow or zero-shot, not ${shown(kind)}${hint}`);
  }
  if (preset !== undefined && kind !== undefined && base.kind !== kind) {
    return problem('strategy.kind', `must be ${String(base.kind)}, as the preset ${preset} says; give one of the two`);
  }
  return { fields: { ...base, ...(kind === undefined ? {} : { kind }), ...options } };
}

function isPreset(name: string): name is PresetName {
  return Object.hasOwn(PRESETS, name);
}

function notAPreset(value: unknown): string {
  const hint = typeof value === 'string' ? didYouMean(value, PRESET_NAMES) : '';
  return `must be one of ${PRESET_NAMES.join(', ')}, not ${shown(value)}${hint}`;
}

function problem(path: string, message: string): { problems: SpecProblem[] } {
  return { problems: [{ path, message }] };
}
