/** Logarithm of the Beta function, for positive arguments, to about 1e-15 of the larger log-gamma in it. */
export function logBeta(a: number, b: number): number {
  return logGamma(a) + logGamma(b) - logGamma(a + b);
}

/** Stirling's series from 10 upwards, where six terms are exact to double precision; smaller arguments are shifted there. */
function logGamma(x: number): number {
  let shift = 0;
  let at = x;
  for (; at < 10; at++) shift += Math.log(at);
  const inverse = 1 / at;
  const square = inverse * inverse;
  const series =
    inverse *
    (1 / 12 -
      square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * (691 / 360360))))));
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
