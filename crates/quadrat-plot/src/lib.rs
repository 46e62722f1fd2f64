//! quadrat-plot
