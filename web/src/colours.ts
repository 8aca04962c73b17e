// Colours of the map, as the style sheet has them: the canvas must follow the theme.

export interface Colours {
  ground: string;
  road: string;
  lane: string;
  building: string;
  buildingLine: string;
  tile: string;
  text: string;
  faint: string;
  miss: string;
  heat: string;
  risk: string;
  seen: string;
  link: string;
  select: string;
  roles: [string, string, string, string, string];
  halo: string;
  /** An arm's own colour, as in the figures of reports. */
  arm: (paint: string | undefined) => string;
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: of("ground"),
    road: of("road"),
    lane: of("lane"),
    building: of("building"),
    buildingLine: of("building-line"),
    tile: of("tile"),
    text: of("text"),
    faint: of("faint"),
    miss: of("miss"),
    heat: of("heat"),
    risk: of("risk"),
    seen: of("seen"),
    link: of("link"),
    select: of("select"),
    roles: [of("unequipped"), of("listener"), of("candidate"), of("contributor"), of("host")],
    halo: of("halo"),
    arm: (paint) => (paint ? of(`paint-${paint}`) : "") || of("paint-ink"),
  };
}
