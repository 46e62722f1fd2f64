//! quadrature
